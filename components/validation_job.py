"""The component ValidationJob."""

from typing import NotRequired, TypedDict

import pulumi
from pulumi_kubernetes.batch.v1 import Job

from aksgpu.readers.kube import POOL_LABEL
from components import live, ownership

IMAGE = "mcr.microsoft.com/azuredocs/samples-tf-mnist-demo:gpu"
DEADLINE = 600
"""Seconds after which Kubernetes gives the Job up."""


class ValidationJobArgs(TypedDict):
    """What a ValidationJob takes."""

    name: NotRequired[str]
    """Name of the Job; `gpu-dra-validation` if left out."""
    namespace: pulumi.Input[str]
    """Namespace of the Job: that of the claim."""
    claim_name: pulumi.Input[str]
    """ResourceClaim to use; pass the `claimName` of a GpuClaim, so that the Job goes before the claim does."""
    pool_name: pulumi.Input[str]
    """Node pool to run on; pass the `poolName` of a pool, so that the Job waits until the pool has been checked."""
    image: NotRequired[str]
    """Container image that has the command."""
    command: NotRequired[list[str]]
    """What to run, `nvidia-smi` if left out."""
    kubeconfig: NotRequired[pulumi.Input[str]]
    """Kubeconfig for the live checks: that of the Kubernetes provider in use. If left out, the ambient one."""


class ValidationJob(pulumi.ComponentResource):
    """A Job that uses a claim and shows its GPU. `pulumi up` waits until it has completed, and fails if it fails."""

    job_name: pulumi.Output[str]
    """The name of the Job."""

    def __init__(self, name: str, args: ValidationJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aksgpu:index:ValidationJob", name, {}, opts)
        job_name = args.get("name", "gpu-dra-validation")
        job = Job(
            name,
            metadata=ownership.marked(
                ownership.JOB,
                job_name,
                args.get("kubeconfig"),
                args["namespace"],
                annotations={
                    # A Job that failed is run again by the next update, instead of failing it for ever.
                    "pulumi.com/replaceUnready": "true",
                    # The Job's own deadline should speak first: it knows why.
                    "pulumi.com/timeoutSeconds": str(DEADLINE + 60),
                },
            ),
            spec={
                "backoff_limit": 0,
                "active_deadline_seconds": DEADLINE,
                "template": {
                    "spec": {
                        "restart_policy": "Never",
                        "node_selector": {POOL_LABEL: args["pool_name"]},
                        "tolerations": [
                            {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
                            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                        ],
                        "resource_claims": [{"name": "gpu", "resource_claim_name": args["claim_name"]}],
                        "containers": [
                            {
                                "name": "gpu-test",
                                "image": args.get("image", IMAGE),
                                "command": args.get("command", ["nvidia-smi"]),
                                "resources": {"claims": [{"name": "gpu"}]},
                            }
                        ],
                    }
                },
            },
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.job_name = live.after(job, job_name)
        self.register_outputs({"jobName": self.job_name})
