"""Reads the stack's configuration; every mistake becomes one paragraph that names key, value and the way out."""

import json
from collections.abc import Mapping

from pydantic import ValidationError

from aksgpu.errors import AksgpuError
from aksgpu.settings.checks import problems
from aksgpu.settings.messages import paragraph
from aksgpu.settings.model import Settings, ValidationSettings
from aksgpu.settings.parts import PROJECT

_PREFIX = f"{PROJECT}:"
_TEXTS = ("previewFeature", "admission")


class SettingsError(AksgpuError, ValueError):
    """The configuration can't be used; one paragraph per mistake."""


def load(config: Mapping[str, object]) -> Settings:
    """Return the settings of a stack.

    `config` maps `aksgpu:KEY` to its value, as Pulumi has it: structured values as objects or as their JSON text.
    Keys of other namespaces are left alone. Raises SettingsError with all mistakes that can be told at once.
    """
    given = {name.removeprefix(_PREFIX): value for name, value in config.items() if name.startswith(_PREFIX)}
    values = {name: value if name in _TEXTS else _structured(value) for name, value in given.items()}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(paragraph(detail) for detail in error.errors())) from None
    if settings.validation is None:
        settings = _with_default_validation(settings)
    found = problems(settings)
    if found:
        raise SettingsError("\n".join(found))
    return settings


def _structured(value: object) -> object:
    """Undo Pulumi's JSON text of a structured value; other text stays, and the model refuses it by name."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _with_default_validation(settings: Settings) -> Settings:
    job = ValidationSettings()
    claims = {(space.name, claim.name) for space in settings.namespaces for claim in space.claims}
    pools = {pool.name for pool in settings.pools if pool.kind == "managed-dra"}
    if (job.namespace, job.claim) not in claims or job.pool not in pools:
        return settings
    return settings.model_copy(update={"validation": job})
