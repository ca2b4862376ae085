"""Any Kubernetes object as a Pulumi resource."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import pulumi


class KubernetesObject(pulumi.CustomResource):
    """What a class of the Kubernetes SDK registers, without importing the SDK.

    The module of core/v1 takes longer to import (0.8 s) than everything else that a program imports.
    """

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        """`manifest` is the whole object, spelt as in YAML."""
        api = manifest["apiVersion"]
        kind = f"kubernetes:{api if '/' in api else f'core/{api}'}:{manifest['kind']}"
        provider = pulumi.ResourceOptions(version=version("pulumi-kubernetes"))
        super().__init__(kind, name, dict(manifest), pulumi.ResourceOptions.merge(provider, opts))
