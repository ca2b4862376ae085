"""The one device request that claims and claim templates of this project consist of."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import pulumi
from pulumi_kubernetes.resource.v1 import DeviceClaimArgsDict, ExactDeviceRequestArgsDict

from components import live

MOST = 32
"""Devices that one claim can have; the limit of resource.k8s.io."""
REQUEST = "gpu"
"""Name of the request inside a claim."""


def devices(device_class: pulumi.Input[str], count: int, selectors: list[str]) -> DeviceClaimArgsDict:
    """Return `spec.devices` of a claim for exactly `count` GPUs.

    Only fields that Kubernetes 1.35 stores are written: the SDK knows newer ones, which the API server would drop.
    """
    exactly: ExactDeviceRequestArgsDict = {
        "device_class_name": device_class,
        "allocation_mode": "ExactCount",
        # An output, because what a constructor raises reaches programs in other languages with a traceback.
        "count": pulumi.Output.from_input(count).apply(partial(live.whole, "The count of a claim", low=1, high=MOST)),
    }
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": expression}} for expression in selectors]
    return {"requests": [{"name": REQUEST, "exactly": exactly}]}


def same(stored: Mapping[str, Any], device_class: str, count: int, selectors: list[str]) -> bool:
    """Tell whether `spec.devices` of a claim in the cluster asks for the same."""
    asked = [request.get("exactly", {}) for request in stored.get("requests", [])]
    return [
        (
            request.get("deviceClassName"),
            request.get("count"),
            [selector["cel"]["expression"] for selector in request.get("selectors", [])],
        )
        for request in asked
    ] == [(device_class, count, selectors)]


def immutable(parent: pulumi.Resource) -> pulumi.ResourceOptions:
    """Return the options of an object whose spec can't change.

    The Kubernetes provider doesn't know that the specs of resource.k8s.io are immutable: without
    `replace_on_changes` a change plans as an update, which the API server then refuses. The name is the
    person's choice, so the old object has to go first.
    """
    return pulumi.ResourceOptions(parent=parent, replace_on_changes=["spec"], delete_before_replace=True)
