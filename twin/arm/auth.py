"""Who may talk to the Azure endpoint: this machine, with the twin's token."""

import secrets
from collections.abc import Mapping

from twin.arm.errors import ArmError

_HOSTS = ("127.0.0.1", "localhost", "[::1]")


def check(headers: Mapping[str, str], token: str) -> None:
    """Raise ArmError (401, 403) for a wrong token, or for a page in a browser that reached the loopback port.

    A wrong Host header means that some other name was made to point here (DNS rebinding).
    """
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    if host not in _HOSTS or "origin" in headers:
        raise ArmError(403, "Forbidden", "The twin answers programs on this machine only, as 127.0.0.1.")
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise ArmError(
            401,
            "AuthenticationFailed",
            "Authentication failed. The 'Authorization' header is missing or the access token is invalid.",
        )
    if not secrets.compare_digest(given.strip().encode(), token.encode()):
        raise ArmError(401, "AuthenticationFailed", "Authentication failed. The access token is not this twin's.")
