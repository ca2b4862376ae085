"""The one error of the Azure endpoint, in the shape Azure Resource Manager answers with."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class ArmError(Exception):
    """A refusal: HTTP status, code and text, as Azure would give them."""

    status: int
    code: str
    message: str
    target: str | None = None
    """The part of the request that is wrong, e.g. `properties.count`."""
    subcode: str | None = None
    details: list[dict[str, str]] = field(default_factory=list)
    retry_after: int | None = None
    """Whole seconds after which to try again (header `Retry-After`)."""

    def __str__(self) -> str:
        return f"({self.code}) {self.message}"

    def content(self) -> dict[str, Any]:
        """Return the value of the key `error`."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.target:
            error["target"] = self.target
        if self.subcode:
            error["subcode"] = self.subcode
        if self.details:
            error["details"] = self.details
        return error


def invalid(message: str, target: str | None = None, code: str = "InvalidParameter") -> ArmError:
    """Return a 400 for a value that can't be."""
    return ArmError(400, code, message, target=target)


def not_found(id_: str, group: str) -> ArmError:
    """Return the 404 of a resource that does not exist; `id_` is its path below the resource group."""
    kind, _, name = id_.partition("/providers/")[2].rpartition("/")
    return ArmError(
        404,
        "ResourceNotFound",
        f"The Resource '{kind}/{name}' under resource group '{group}' was not found. For more details please "
        "go to https://aka.ms/ARMResourceNotFoundFix",
    )
