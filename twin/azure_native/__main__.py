"""Entry point of the plugin: `python -m twin.azure_native [ENGINE-ADDRESS]`."""

import sys

from twin.azure_native.server import main

main(sys.argv[1:])
