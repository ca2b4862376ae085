"""The program: the stack's settings in, components out."""

import pulumi
from pulumi.runtime.config import get_config_env

from aksgpu.settings import SettingsError, load
from components import Cluster, GpuAdmission, GpuDeviceClass, GpuNamespace, NodePool, PreviewFeature, ValidationJob
from components.cluster import ClusterArgs

try:
    settings = load(get_config_env())
except SettingsError as error:
    raise pulumi.RunError(str(error)) from None

cluster_args = ClusterArgs(**settings.cluster.model_dump(exclude_none=True), protect=settings.protect)
if settings.preview_feature == "require" and any(pool.kind.startswith("managed-") for pool in settings.pools):
    # A missing feature has to stop the run before anything that costs money is made, not only before the pools.
    cluster_args["ready"] = PreviewFeature("preview-feature", {"mode": "require"}).state
cluster = Cluster("cluster", cluster_args)
pools = {
    pool.name: NodePool(
        pool.name,
        {
            **pool.model_dump(exclude_none=True, exclude={"vm_size"}),
            "vm_size": pool.vm_size,
            "resource_group_name": cluster.resource_group_name,
            "cluster_name": cluster.cluster_name,
            "kubernetes_version": cluster.kubernetes_version,
            "node_provisioning": cluster.node_provisioning,
            "preview_feature": settings.preview_feature,
            "protect": settings.protect,
        },
    )
    for pool in settings.pools
}

inside = pulumi.ResourceOptions(providers=[cluster.provider])
if settings.admission != "off":
    admission = GpuAdmission(
        "admission",
        {
            "mode": settings.admission,
            "pools": [
                {
                    **pool.model_dump(exclude_none=True, include={"kind", "labels", "taints", "spot"}),
                    "name": pool.name,
                    "vm_size": pool.vm_size,
                }
                for pool in settings.pools
            ],
            "kubeconfig": cluster.kubeconfig,
        },
        inside,
    )
    # Whatever comes after it has to get past it.
    inside = pulumi.ResourceOptions.merge(inside, pulumi.ResourceOptions(depends_on=[admission]))
device_class = GpuDeviceClass(
    "device-class", {"name": settings.device_class.name, "kubeconfig": cluster.kubeconfig}, inside
)
namespaces = {
    space.name: GpuNamespace(
        space.name,
        {**space.model_dump(), "device_class_name": device_class.class_name, "kubeconfig": cluster.kubeconfig},
        inside,
    )
    for space in settings.namespaces
}
job = settings.validation
if job is not None:
    ValidationJob(
        "validation",
        {
            "name": job.job,
            "namespace": namespaces[job.namespace].namespace_name,
            "claim_name": namespaces[job.namespace].claims[job.claim].claim_name,
            "pool_name": pools[job.pool].pool_name,
            "kubeconfig": cluster.kubeconfig,
        },
        inside,
    )

pulumi.export("cluster", cluster.cluster_id)
pulumi.export("pools", {name: pool.accepted for name, pool in pools.items()})
pulumi.export("deviceClass", device_class.class_name)
pulumi.export("namespaces", {name: space.claim_names for name, space in namespaces.items()})
