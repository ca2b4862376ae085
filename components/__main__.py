"""Serves the components to programs in other languages; Pulumi starts it because of PulumiPlugin.yaml."""

import sys
from importlib.metadata import version
from pathlib import Path

# Pulumi runs this folder, so Python looks for modules inside it; what has to be found is the package itself, beside it.
sys.path.remove(str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi.provider.experimental import component_provider_host

import components

if __name__ == "__main__":
    component_provider_host(
        [getattr(components, name) for name in components.__all__], name="aksgpu", version=version("aksgpu")
    )
