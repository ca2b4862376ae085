"""Fills a new twin from a file: dates, quotas, features, clusters with pools, workloads.

Everything is made by the same requests that a client of Azure would send, so a seed can't describe a cluster
that the simulated Azure would refuse.
"""

import datetime as dt
import io
import os
import ssl
import subprocess
import tempfile
import threading
from base64 import b64decode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from ruamel.yaml import YAML, YAMLError

from twin import toolchain
from twin.account import SUBSCRIPTION
from twin.arm.api_versions import NEWEST
from twin.arm.settings import LOCATION
from twin.azure_native.arm_client import ArmClient, AzureError, Deadline, OperationFailedError
from twin.errors import TwinError

_RESOURCES_API = "2025-04-01"
_FEATURES_API = "2021-07-01"
_CONTAINER_SERVICE = "Microsoft.ContainerService"
_MINUTES = 20
"""How long one cluster may take."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class ClusterSeed(_Part):
    """A cluster that exists from the start."""

    resource_group: str
    name: str
    subscription: str = SUBSCRIPTION
    location: str = LOCATION
    kubernetes_version: str | None = None
    """`1.34` or `1.34.5`; Azure's default when absent."""
    tags: dict[str, str] = Field(default_factory=dict)
    properties: dict[str, Any] = Field(default_factory=dict)
    """Further properties of the managedCluster, in Azure's own spelling."""
    pools: list[dict[str, Any]] = Field(min_length=1)
    """Node pools: `name` and the properties of an agent pool, in Azure's own spelling. The system pools come
    with the cluster, the others after it."""
    workloads: list[str | dict[str, Any]] = Field(default_factory=list)
    """Kubernetes manifests: objects, or paths of files and folders relative to the seed file."""


class Seed(_Part):
    """What a new twin should hold."""

    today: dt.date | None = None
    """The day that decides which Kubernetes versions are supported."""
    minute_seconds: float | None = Field(default=None, gt=0)
    """How many real seconds a minute of Azure lasts (drain timeouts, soak times)."""
    subscriptions: dict[str, str] = Field(default_factory=dict)
    """Further subscriptions, id to name."""
    quotas: dict[str, int] = Field(default_factory=dict)
    """vCPU limits, quota family (or `cores` for the region) to vCPUs."""
    features: list[Literal["ManagedGPUExperiencePreview"]] = Field(default_factory=list)
    """Preview features that are Registered."""
    clusters: list[ClusterSeed] = Field(default_factory=list)

    _folder: Path = Path()


def load(path: Path) -> Seed:
    """Read a seed file (YAML); raises TwinError naming the file, the key and what is allowed there."""
    try:
        content = YAML(typ="safe").load(path.read_text())
    except OSError as error:
        raise TwinError(f"The seed file {path} can't be read: {error.strerror}.") from error
    except YAMLError as error:
        raise TwinError(f"The seed file {path} is not YAML: {' '.join(str(error).split())}") from error
    try:
        seed = Seed.model_validate(content or {})
    except ValidationError as error:
        raise TwinError(f"The seed file {path} is wrong. {_explain(error)}") from error
    for cluster in seed.clusters:
        _check_paths(path, cluster)
    seed._folder = path.resolve().parent
    return seed


def _explain(error: ValidationError) -> str:
    parts = []
    for problem in error.errors():
        where = ".".join(str(part) for part in problem["loc"]) or "the file"
        if problem["type"] == "extra_forbidden":
            model = ClusterSeed if "clusters" in problem["loc"] else Seed
            parts.append(f"There is no key '{where}'; allowed are {', '.join(_keys(model))}.")
        else:
            parts.append(f"{where}: {problem['msg']}.")
    return " ".join(parts)


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _check_paths(path: Path, cluster: ClusterSeed) -> None:
    for workload in cluster.workloads:
        if isinstance(workload, str) and not (path.parent / workload).exists():
            raise TwinError(f"The seed file {path} names workloads '{workload}', which don't exist there.")


def apply(seed: Seed, endpoint: str, token: str, ca: Path, report: Callable[[str], None]) -> None:
    """Bring what the seed describes into a running, empty twin; raises TwinError when Azure's side refuses."""
    _Sower(seed, ArmClient(endpoint, token, ssl.create_default_context(cafile=str(ca))), ca.parent, report).run()


class _Sower:
    def __init__(self, seed: Seed, client: ArmClient, folder: Path, report: Callable[[str], None]) -> None:
        self._seed = seed
        self._client = client
        self._folder = folder
        self._report = report

    def run(self) -> None:
        self._settings()
        for feature in self._seed.features:
            self._register(feature)
        for cluster in self._seed.clusters:
            self._cluster(cluster)

    def _settings(self) -> None:
        given = self._seed.model_dump(
            mode="json", include={"today", "minute_seconds", "quotas", "subscriptions"}, exclude_defaults=True
        )
        if "subscriptions" in given:
            given["subscriptions"] = {SUBSCRIPTION: "aksgpu twin"} | given["subscriptions"]
        if given:
            self._put("the settings", "/twin/settings", _RESOURCES_API, given)

    def _register(self, feature: str) -> None:
        self._report(f"registering the feature {feature}")
        path = (
            f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Features/providers/{_CONTAINER_SERVICE}/"
            f"features/{feature}"
        )
        deadline = _deadline()
        try:
            self._client.post(f"{path}/register", {"api-version": _FEATURES_API}, deadline)
            while self._state(path, deadline) != "Registered":
                deadline.wait(0.1)
        except AzureError as error:
            raise TwinError(f"The seed's feature {feature} could not be registered: {error}") from error

    def _state(self, path: str, deadline: Deadline) -> str:
        feature = self._client.get(path, _FEATURES_API, deadline) or {}
        return feature.get("properties", {}).get("state", "")

    def _cluster(self, cluster: ClusterSeed) -> None:
        self._report(f"creating the cluster {cluster.name}")
        group = f"/subscriptions/{cluster.subscription}/resourceGroups/{cluster.resource_group}"
        path = f"{group}/providers/{_CONTAINER_SERVICE}/managedClusters/{cluster.name}"
        system = [pool for pool in cluster.pools if pool.get("mode") == "System"]
        properties = {"dnsPrefix": cluster.name, **cluster.properties, "agentPoolProfiles": system}
        if cluster.kubernetes_version:
            properties["kubernetesVersion"] = cluster.kubernetes_version
        body = {
            "location": cluster.location,
            "identity": {"type": "SystemAssigned"},
            "tags": cluster.tags,
            "properties": properties,
        }
        self._put(f"resource group {cluster.resource_group}", group, _RESOURCES_API, {"location": cluster.location})
        self._put(f"cluster {cluster.name}", path, NEWEST, body)
        for pool in cluster.pools:
            if pool not in system:
                self._pool(cluster, path, pool)
        self._workloads(cluster, path)

    def _pool(self, cluster: ClusterSeed, path: str, pool: Mapping[str, Any]) -> None:
        name = str(pool.get("name", ""))
        self._report(f"creating the pool {name} of {cluster.name}")
        properties = {key: value for key, value in pool.items() if key != "name"}
        self._put(f"pool {name} of {cluster.name}", f"{path}/agentPools/{name}", NEWEST, {"properties": properties})

    def _put(self, what: str, path: str, api_version: str, body: Mapping[str, Any]) -> None:
        try:
            self._client.put(path, api_version, body, _deadline(), lambda _: None)
        except (AzureError, OperationFailedError) as error:
            raise TwinError(f"The seed's {what} could not be made: {error}") from error

    def _workloads(self, cluster: ClusterSeed, path: str) -> None:
        if not cluster.workloads:
            return
        self._report(f"applying {len(cluster.workloads)} workloads to {cluster.name}")
        try:
            answer = self._client.post(f"{path}/listClusterAdminCredential", {"api-version": NEWEST}, _deadline())
        except AzureError as error:
            raise TwinError(
                f"The seed's workloads can't be applied to {cluster.name}: {error}. They need a cluster with local "
                "accounts: leave out disableLocalAccounts or the workloads, then "
                f"`aksgpu twin reset --name {self._folder.name}` and start again."
            ) from error
        with tempfile.TemporaryDirectory(dir=self._folder, prefix=".seed-") as scratch:
            config = Path(scratch) / "kubeconfig"
            config.touch(mode=0o600)
            config.write_bytes(b64decode(answer["kubeconfigs"][0]["value"]))
            for workload in cluster.workloads:
                self._apply(cluster, workload, config)

    def _apply(self, cluster: ClusterSeed, workload: str | Mapping[str, Any], config: Path) -> None:
        source, text = "-", ""
        if isinstance(workload, str):
            source = str(self._seed._folder / workload)
        else:
            buffer = io.StringIO()
            YAML(typ="safe").dump(dict(workload), buffer)
            text = buffer.getvalue()
        kubectl = toolchain.locate()["kubectl"].path
        done = subprocess.run(
            [str(kubectl), "apply", "--filename", source],
            input=text,
            text=True,
            capture_output=True,
            check=False,
            env={**os.environ, "KUBECONFIG": str(config)},
        )
        if done.returncode != 0:
            what = workload if isinstance(workload, str) else f"{workload.get('kind')} in the file"
            raise TwinError(f"The seed's workload {what} was refused by {cluster.name}: {done.stderr.strip()}")


def _deadline() -> Deadline:
    return Deadline(threading.Event(), _MINUTES * 60)
