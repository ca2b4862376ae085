"""Reads what `extract` found out about the fields of each resource, once per version of the SDKs.

`python -m twin.azure_native.metadata` writes the file ahead of time.
"""

import hashlib
import importlib.metadata
import json
import tempfile
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from twin.azure_native.catalog import RESOURCES
from twin.azure_native.shapes import Field, ObjectType, Shape, Slot
from twin.azure_native.tokens import Token
from twin.errors import TwinError
from twin.paths import cache_root

T = TypeVar("T")

_HERE = Path(__file__).parent
_SOURCES = (_HERE / "extract.py", _HERE / "catalog.py", _HERE.parent / "arm" / "api_versions.py")


@cache
def provider_version() -> str:
    """The version of azure-native that the plugin stands in for: that of the installed Python SDK."""
    return importlib.metadata.version("pulumi-azure-native")


def file() -> Path:
    """Where the metadata of the installed SDKs lies: a new SDK or a changed extraction gets a new file."""
    digest = hashlib.sha256()
    digest.update(importlib.metadata.version("azure-mgmt-containerservice").encode())
    for source in _SOURCES:
        digest.update(source.read_bytes())
    return cache_root() / "azure-native" / f"{provider_version()}-{digest.hexdigest()[:12]}.json"


def load() -> "Metadata":
    """Read the metadata, extracting it first when there is no file yet (takes a second or two, once)."""
    path = file()
    try:
        text = path.read_text() if path.is_file() else write(path)
    except OSError as error:
        raise TwinError(
            f"The twin's azure-native can't keep what it knows about resources in {path.parent} ({error}). Make room "
            "there, or choose another folder with AKSGPU_CACHE_HOME."
        ) from error
    return Metadata(json.loads(text))


def write(path: Path) -> str:
    """Extract the metadata into `path` and return it; several processes may do so at once."""
    from twin.azure_native.extract import extract

    text = json.dumps(extract(), separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as scratch:
        scratch.write(text)
    Path(scratch.name).replace(path)
    return text


class Metadata:
    """Shapes of resources and functions by token."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    @cached_property
    def _types(self) -> Mapping[str, ObjectType]:
        return {
            key: ObjectType(_fields(value["fields"]), frozenset(value["required"]))
            for key, value in self._data["types"].items()
        }

    def versions(self, module: str) -> list[str]:
        """Return the API versions of a module, oldest first; empty when there is no such module."""
        known = (of for kind, of in self._data["resources"].items() if kind.startswith(f"{module}:"))
        return sorted({version for of in known for version in of["versions"]})

    def api_version(self, token: Token, written: str) -> str:
        """Return the API version that a resource's token stands for; TwinError if there is no such version."""
        known = self._data["resources"][token.kind]
        if token.version is None:
            return known["apiVersion"]
        if token.version not in known["versions"]:
            raise TwinError(
                f"Resource type {written} not found. azure-native {provider_version()} has {token.kind} at these "
                f"API versions only: {', '.join(known['versions'])}."
            )
        return token.version

    def shape(self, token: Token, written: str) -> Shape:
        """Return the shape of the resource a token names, at the token's API version."""
        known = self._data["resources"][token.kind]
        models = self._data["models"].get(token.kind)
        version = self.api_version(token, written)
        inputs, outputs, types = known["inputs"], known["outputs"], self._types
        if models and version != known["apiVersion"]:
            outside = RESOURCES[token.kind].outside_body
            inputs = self._existing(models["owner"], models["inputs"], version)
            inputs = {name: value for name, value in inputs.items() if name not in outside}
            outputs = self._existing(models["owner"], models["outputs"], version)
            types = self._types_at(version)
        lifted = frozenset(known["containers"])
        required = {*known["required"], *(["location"] if RESOURCES[token.kind].needs_location else [])}
        return Shape(_slots(inputs, lifted), _slots(outputs, lifted), types, frozenset(required))

    def result(self, token: Token) -> Shape:
        """Return the shape of what a listing function answers."""
        return Shape({}, _slots(self._data["functions"][token.kind], frozenset()), self._types)

    def _types_at(self, version: str) -> Mapping[str, ObjectType]:
        return {
            key: ObjectType(self._existing(key.rpartition(":")[2], known.fields, version), known.required)
            if ":models:" in key
            else known
            for key, known in self._types.items()
        }

    def _existing(self, owner: str, fields: Mapping[str, T], version: str) -> dict[str, T]:
        """Leave out the fields of a model that don't exist yet at `version`."""
        since = self._data["since"].get(owner, {})
        stable = not version.endswith("-preview")
        return {name: value for name, value in fields.items() if since.get(name, ("", ""))[stable] <= version}


def _fields(data: Mapping[str, Any]) -> dict[str, Field]:
    return {name: Field.parse(value) for name, value in data.items()}


def _slots(data: Mapping[str, Any], lifted: frozenset[str]) -> dict[str, Slot]:
    return {name: Slot(known, "properties" if name in lifted else "") for name, known in _fields(data).items()}


if __name__ == "__main__":
    write(file())
