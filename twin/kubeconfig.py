"""Reading and merging kubeconfig files."""

from collections.abc import Mapping
from typing import Any

import yaml


def parse(text: str) -> dict[str, Any]:
    """Return the kubeconfig that the YAML `text` holds."""
    return dict(yaml.safe_load(text))


def merge(texts: Mapping[str, str]) -> str:
    """Return one kubeconfig (YAML) with a context per cluster, named after it; the first is the current one.

    `texts` maps the cluster's name to a kubeconfig with one cluster, one user and one context.
    """
    merged: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [],
        "users": [],
        "contexts": [],
        "current-context": next(iter(texts), ""),
    }
    for name, text in texts.items():
        one = parse(text)
        merged["clusters"].append({"name": name, "cluster": one["clusters"][0]["cluster"]})
        merged["users"].append({"name": name, "user": one["users"][0]["user"]})
        merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    return yaml.safe_dump(merged, sort_keys=False)
