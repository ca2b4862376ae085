"""What each kind of operation does."""

from twin.arm.operations import Progress
from twin.arm.pool_work import PoolWork
from twin.arm.service import CLUSTERS, POOLS, Service


def work(service: Service, progress: Progress) -> None:
    """Do one operation; ends when the cluster is as wanted, or raises."""
    _KINDS[progress.operation["kind"]](service, progress)


def _put_pool(service: Service, progress: Progress) -> None:
    PoolWork(service, progress, progress.operation["target"]).run()


def _delete_pool(service: Service, progress: Progress) -> None:
    PoolWork(service, progress, progress.operation["target"]).empty()
    service.store.delete(progress.operation["target"])


def _put_cluster(service: Service, progress: Progress) -> None:
    cluster_id = progress.operation["target"]
    cluster = service.store.get(cluster_id)
    if cluster is None:
        return
    service.backend.ensure_control_plane(cluster_id, cluster["properties"]["currentKubernetesVersion"])
    service.publish(cluster_id)
    for pool in service.store.resources(POOLS, cluster_id):
        if pool["id"].lower() in progress.operation["affects"]:
            PoolWork(service, progress, pool["id"].lower()).run()


def _delete_cluster(service: Service, progress: Progress) -> None:
    _remove_cluster(service, progress.operation["target"])


def _delete_group(service: Service, progress: Progress) -> None:
    group_id = progress.operation["target"]
    for cluster in service.store.resources(CLUSTERS, group_id):
        _remove_cluster(service, cluster["id"].lower())
    service.store.delete(group_id)


def _remove_cluster(service: Service, cluster_id: str) -> None:
    service.backend.remove_control_plane(cluster_id)
    service.store.delete(cluster_id)


_KINDS = {
    "put-pool": _put_pool,
    "delete-pool": _delete_pool,
    "put-cluster": _put_cluster,
    "delete-cluster": _delete_cluster,
    "delete-group": _delete_group,
}
