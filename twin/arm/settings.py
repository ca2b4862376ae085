"""What a person or a test can set about the simulated Azure; kept in the database."""

import datetime as dt

from pydantic import BaseModel, ConfigDict, Field

from twin.account import SUBSCRIPTION

LOCATION = "eastus"
LOCATIONS = {
    "eastus": "East US",
    "eastus2": "East US 2",
    "westus2": "West US 2",
    "westus3": "West US 3",
    "southcentralus": "South Central US",
    "westeurope": "West Europe",
    "northeurope": "North Europe",
    "swedencentral": "Sweden Central",
}


class Settings(BaseModel):
    """Dates, limits and speeds of the simulated Azure."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    today: dt.date = dt.date(2026, 7, 15)
    """Decides which Kubernetes versions are in preview, supported and out of support."""
    subscriptions: dict[str, str] = Field(default_factory=lambda: {SUBSCRIPTION: "aksgpu twin"}, min_length=1)
    """Subscription id to display name."""
    quotas: dict[str, int] = Field(default_factory=dict)
    """vCPU limits that differ from the default: quota family, or `cores` for the region, to vCPUs."""
    minute_seconds: float = Field(default=1.0, gt=0)
    """How many real seconds a minute of Azure lasts (drain timeouts, soak times)."""
    registration_seconds: float = Field(default=2.0, ge=0)
    """How long a feature or a provider stays in Registering."""
    write_burst: int = Field(default=20, gt=0)
    """PUTs on one cluster, or on the pools of one cluster, before Azure throttles."""
    writes_per_minute: float = Field(default=1.0, gt=0)
    """PUTs that come back per real minute."""
    poll_milliseconds: int = Field(default=200, gt=0)
    """How long clients wait between two looks at a long-running operation."""
    ready_seconds: float = Field(default=120.0, gt=0)
    """How long nodes may take to become Ready before the operation fails."""
