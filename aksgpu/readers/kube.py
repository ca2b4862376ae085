"""Reads a Kubernetes cluster: the objects of dynamic resource allocation, nodes, Jobs and their logs.

Objects come back as the plain JSON the API server sent, so that fields of a newer or older version are neither
lost nor invented. Every failure becomes one `KubeError`: a paragraph that says what was asked and what to do.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from aksgpu.errors import AksgpuError

if TYPE_CHECKING:
    import httpx2
    from lightkube.config.kubeconfig import SingleConfig

PAGE = 500
"""Objects asked for at once."""

Object = dict[str, Any]
"""A Kubernetes object as JSON."""

DRA = "/apis/resource.k8s.io/v1"
POOL_LABEL = "kubernetes.azure.com/agentpool"
"""The label by which AKS says which node pool a node is in."""

_HINTS = {
    401: "The credentials in the kubeconfig were not accepted; fetch new ones (`az aks get-credentials`).",
    403: "The user of the kubeconfig lacks the permission; ask for a role of the cluster that has it.",
    429: "The API server is overloaded; wait a little, then run again.",
}


class KubeError(AksgpuError):
    """The cluster could not be asked, or refused; the text is one paragraph for a person."""


class Kube:
    """One cluster, as the user of a kubeconfig sees it."""

    def __init__(self, kubeconfig: str | None = None) -> None:
        """`kubeconfig` is the file's content; without it the ambient one is used (KUBECONFIG or ~/.kube/config)."""
        self._kubeconfig = kubeconfig

    def api_versions(self, group: str) -> list[str]:
        """Return the versions of an API group that are served, e.g. `["v1", "v1beta1"]`; none when it isn't."""
        found = self.get(f"/apis/{group}")
        return [version["version"] for version in found["versions"]] if found is not None else []

    def device_class(self, name: str) -> Object | None:
        """Return a DeviceClass, or None."""
        return self.get(f"{DRA}/deviceclasses/{name}")

    def resource_slices(self, driver: str | None = None) -> list[Object]:
        """Return the ResourceSlices, all of them or those of one driver."""
        return [
            found for found in self.list(f"{DRA}/resourceslices") if driver is None or found["spec"]["driver"] == driver
        ]

    def resource_claim(self, namespace: str, name: str) -> Object | None:
        """Return a ResourceClaim, or None."""
        return self.get(f"{DRA}/namespaces/{namespace}/resourceclaims/{name}")

    def resource_claims(self, namespace: str | None = None) -> list[Object]:
        """Return the ResourceClaims of one namespace, or of all."""
        scope = f"/namespaces/{namespace}" if namespace is not None else ""
        return list(self.list(f"{DRA}{scope}/resourceclaims"))

    def nodes(self, pool: str | None = None) -> list[Object]:
        """Return the nodes, all of them or those of one AKS node pool."""
        return list(self.list("/api/v1/nodes", labels=f"{POOL_LABEL}={pool}" if pool is not None else ""))

    def job(self, namespace: str, name: str) -> Object | None:
        """Return a Job, or None."""
        return self.get(f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}")

    def job_pods(self, namespace: str, job: str) -> list[Object]:
        """Return the pods of a Job."""
        return list(self.list(f"/api/v1/namespaces/{namespace}/pods", labels=f"batch.kubernetes.io/job-name={job}"))

    def log(self, namespace: str, pod: str, lines: int = 20) -> str:
        """Return the last lines of a pod's log; empty when there is none (yet)."""
        path = f"/api/v1/namespaces/{namespace}/pods/{pod}/log"
        with _explained(f"read the log of the pod {namespace}/{pod}"):
            answer = self._http.get(path, params={"tailLines": str(lines)})
            return "" if answer.status_code in {400, 404} else _checked(answer).text
        return ""

    def get(self, path: str) -> Object | None:
        """Return what is at a path of the API, or None when there is nothing."""
        with _explained(f"read {path}"):
            answer = self._http.get(path)
            return None if answer.status_code == 404 else _checked(answer).json()
        return None

    def list(self, path: str, labels: str = "") -> Iterator[Object]:
        """Yield what a list at a path of the API holds, page by page."""
        page: dict[str, str] = {"limit": str(PAGE), "labelSelector": labels}
        while True:
            with _explained(f"list {path}"):
                answer = _checked(self._http.get(path, params=page)).json()
            yield from answer["items"]
            if not answer["metadata"].get("continue"):
                return
            page["continue"] = answer["metadata"]["continue"]

    @cached_property
    def _http(self) -> "httpx2.Client":
        from lightkube.config.client_adapter import Client, ConnectionParams

        return Client(_context(self._kubeconfig), ConnectionParams())


def _context(text: str | None) -> "SingleConfig":
    """Return the current context of a kubeconfig, with exec plugins (kubelogin) and certificates as they are."""
    from lightkube import KubeConfig
    from lightkube.core.exceptions import ConfigError
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        config = KubeConfig.from_env() if text is None else KubeConfig.from_dict(YAML(typ="safe").load(text))
        context = config.get()
    except YAMLError:  # its text would quote the file, which holds secrets
        raise ConfigError("it is not YAML") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"it is not one, or parts are missing ({_line(error)})") from None
    if context is None or context.user is None:
        raise ConfigError("it has no current context with a user")
    return context


def _checked(answer: "httpx2.Response") -> "httpx2.Response":
    answer.raise_for_status()
    return answer


@contextmanager
def _explained(what: str) -> Generator[None]:
    """Turn what reading raises into a KubeError."""
    import httpx2
    from lightkube.core.exceptions import ConfigError

    try:
        yield
    except httpx2.HTTPStatusError as error:
        status = error.response.status_code
        hint = _HINTS.get(status, "")
        raise KubeError(
            f"Could not {what}: the API server answered {status}: {_message(error)} {hint}".strip()
        ) from None
    except httpx2.HTTPError as error:
        raise KubeError(
            f"Could not {what}: the cluster's API server can't be reached ({error or type(error).__name__}). Is the "
            "cluster running, and is its address reachable from here (VPN, authorised IP ranges)?"
        ) from None
    except (ConfigError, OSError, ValueError) as error:
        raise KubeError(f"Could not {what}: the kubeconfig can't be used: {_line(error)}.") from None


def _message(error: "httpx2.HTTPStatusError") -> str:
    try:
        return str(error.response.json()["message"])
    except (ValueError, KeyError, TypeError):
        return error.response.text.strip().partition("\n")[0]


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
