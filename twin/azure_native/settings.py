"""The plugin's configuration: the stack's `azure-native:` keys, and the environment that `twin exec` sets."""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from twin.azure_native.arm_client import ArmClient
from twin.errors import TwinError


@dataclass(frozen=True)
class Settings:
    """What a configured provider works with."""

    subscription: str
    location: str | None
    """Default region of resources (`azure-native:location`)."""
    client: ArmClient


def configure(variables: Mapping[str, str]) -> Settings:
    """Make the settings from the provider's inputs; raises TwinError when something is missing."""
    endpoint, token_file = _from_environment("AKSGPU_ARM_ENDPOINT"), _from_environment("AKSGPU_ARM_TOKEN_FILE")
    subscription = (
        variables.get("subscriptionId")
        or os.environ.get("ARM_SUBSCRIPTION_ID")
        or _from_environment("AZURE_SUBSCRIPTION_ID")
    )
    try:
        token = Path(token_file).read_text().strip()
    except OSError as error:
        raise TwinError(f"The token of the twin's Azure endpoint can't be read ({error}). Start the twin.") from error
    client = ArmClient(endpoint, token, _trust())
    return Settings(subscription, variables.get("location") or None, client)


def _from_environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise TwinError(
            f"This is the twin's stand-in for azure-native, and {name} is not set, so it has no Azure to talk to. "
            "Run the command through `aksgpu twin exec -- ...`; to reach real Azure, put the real provider on PATH "
            "instead (`pulumi plugin install resource azure-native`)."
        )
    return value


def _trust() -> ssl.SSLContext | bool:
    bundle = os.environ.get("REQUESTS_CA_BUNDLE")
    try:
        return ssl.create_default_context(cafile=bundle) if bundle else True
    except OSError as error:
        raise TwinError(f"The certificates in {bundle} (REQUESTS_CA_BUNDLE) can't be read: {error}.") from error
