# Every target sets up what it needs; the first run on a new machine builds the Go tools once (about 15 minutes on two
# cores) into a cache outside the checkout.

UV_VERSION := 0.13.9
UV := $(shell uv --version >/dev/null 2>&1 && echo uv || echo .uv/bin/uv)
RUN := $(UV) run --frozen
GO_MODULES := twin/language_host twin/nodes

.PHONY: up down test check bench tools docs policy-pack pack-environments

up: .venv/synced  ## take the document's example from nothing to an allocated GPU, on this machine
	@$(RUN) aksgpu twin exec -- aksgpu up --stack dev

down: .venv/synced  ## destroy it again, and stop the twin
	@$(RUN) aksgpu twin exec --existing -- aksgpu down --stack dev
	@$(RUN) aksgpu twin stop

test: tools  ## every test: rules, the real engine, the real control plane
	@for module in $(GO_MODULES); do (cd $$module && go test ./...) || exit 1; done
	@$(RUN) pytest

check: .venv/synced  ## format, lint, types, layers
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .
	@$(RUN) ty check
	@$(RUN) lint-imports
	@for module in $(GO_MODULES); do (cd $$module && gofmt -d . && test -z "$$(gofmt -l .)" && go vet ./...) || exit 1; done

bench: tools  ## the measured promises, as ratios in one run
	@$(RUN) python -m benchmarks

tools: .venv/synced  ## build what the twin needs
	@$(RUN) python -m twin.toolchain

docs: .venv/synced  ## generated pages: rules, settings
	@$(RUN) python -m aksgpu.docs

policy-pack: .venv/synced  ## the policy packs as folders that need nothing of this one, in dist/
	@$(RUN) python policies/build.py

.venv/synced: pyproject.toml uv.lock | $(filter .uv/bin/uv,$(UV)) pack-environments
	@$(UV) sync --frozen --quiet
	@touch $@

.uv/bin/uv:
	@python3 -m venv .uv && .uv/bin/pip install --quiet uv==$(UV_VERSION)

# The packs find their libraries in a folder `venv` beside them; in a checkout that is the project's own. An environment
# that `pulumi install` made there is empty: only the folders in dist/ have a requirements.txt.
pack-environments:
	@test -L policies/venv || { rm -rf policies/venv; ln -s ../.venv policies/venv; }
	@test -L policies/advice/venv || { rm -rf policies/advice/venv; ln -s ../../.venv policies/advice/venv; }
