"""Every measured promise: `make bench`, or `python -m benchmarks.NAME --help` for one of them."""

import sys

from benchmarks import check, main_job, packs, readiness, scale

sys.exit(max([benchmark.main([]) for benchmark in (readiness, main_job, scale, packs, check)]))
