"""How Azure is reached: the endpoint, the credential, and what is said when it can't be asked or refuses.

With `AKSGPU_ARM_ENDPOINT` and `AKSGPU_ARM_TOKEN_FILE` set, requests go to that endpoint with that token; otherwise to
Azure with `DefaultAzureCredential` (`az login`, a managed identity, or AZURE_CLIENT_ID and friends).

Every failure becomes one `AzureError`: a paragraph that says what was asked, what Azure answered, what to do.
"""

import logging
import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from aksgpu.errors import AksgpuError

if TYPE_CHECKING:
    from azure.core.credentials import AccessToken, TokenCredential
    from azure.core.exceptions import HttpResponseError
    from azure.mgmt.containerservice import ContainerServiceClient

_HINTS = {
    401: "Log in again: `az login`, then `az account set --subscription ID`.",
    403: "The identity in use lacks the permission; ask for a role on the subscription or resource group that "
    "has it (Contributor is enough).",
    409: "Another operation is running on it; wait until it has finished, then run again.",
    429: "Azure is throttling this subscription; wait a few minutes, then run again.",
}


class AzureError(AksgpuError):
    """Azure could not be asked, or refused; the text is one paragraph for a person."""


def containers(subscription: str) -> "ContainerServiceClient":
    """Return a client for the clusters and pools of a subscription."""
    from azure.mgmt.containerservice import ContainerServiceClient

    return ContainerServiceClient(credential(), subscription, **endpoint())


class _TokenFile:
    """A credential whose token is the content of a file, read at each use."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get_token(
        self,
        *scopes: str,  # noqa: ARG002 - the names are azure-core's protocol
        claims: str | None = None,  # noqa: ARG002
        tenant_id: str | None = None,  # noqa: ARG002
        enable_cae: bool = False,  # noqa: ARG002
        **options: object,  # noqa: ARG002
    ) -> "AccessToken":
        """Return the token; azure-core asks again before it would expire."""
        from azure.core.credentials import AccessToken

        try:
            token = self._file.read_text().strip()
        except OSError as error:
            raise AzureError(
                f"AKSGPU_ARM_TOKEN_FILE names {self._file}, which can't be read ({error.strerror})."
            ) from None
        return AccessToken(token, int(time.time()) + 3600)


def credential() -> "TokenCredential":
    """Return what Azure is asked with."""
    file = os.environ.get("AKSGPU_ARM_TOKEN_FILE", "")
    if endpoint() and file:
        return _TokenFile(Path(file))
    from azure.identity import DefaultAzureCredential

    # Without a handler its story of every credential tried goes to stderr, above our own paragraph.
    logging.getLogger("azure").addHandler(logging.NullHandler())
    return DefaultAzureCredential()


class _Endpoint(TypedDict, total=False):
    base_url: str


def endpoint() -> _Endpoint:
    """Return where Azure Resource Manager is, as the clients take it; nothing for Azure itself."""
    endpoint = os.environ.get("AKSGPU_ARM_ENDPOINT", "")
    return {"base_url": endpoint} if endpoint else {}


@contextmanager
def explained(what: str) -> Generator[None]:
    """Turn what an SDK raises into an AzureError; swallow "it does not exist", so that the caller goes on."""
    from azure.core.exceptions import AzureError as SdkError
    from azure.core.exceptions import ClientAuthenticationError, HttpResponseError

    try:
        yield
    except ClientAuthenticationError as error:
        raise AzureError(
            f"Could not {what}: not logged in to Azure. Run `az login` (in CI, set AZURE_CLIENT_ID, AZURE_TENANT_ID "
            f"and a secret or federated token). Azure's words: {_first_line(error)}"
        ) from None
    except HttpResponseError as error:
        code = error.error.code if error.error is not None else None
        if error.status_code == 404 and code != "SubscriptionNotFound":
            return
        raise AzureError(_refused(what, code, error)) from None
    except SdkError as error:
        raise AzureError(f"Could not {what}: Azure can't be reached. {_first_line(error)}") from None


def _refused(what: str, code: str | None, error: "HttpResponseError") -> str:
    message = error.error.message if error.error is not None else _first_line(error)
    hint = _HINTS.get(error.status_code or 0, "")
    return f"Could not {what}: Azure answered {error.status_code} {code or error.reason}: {message} {hint}".strip()


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
