"""What can be set about the simulated Azure itself; real Azure has no such request."""

from pydantic import ValidationError

from twin.arm.azure import Azure
from twin.arm.errors import ArmError
from twin.arm.http import Reply, Request
from twin.arm.settings import Settings


def get_settings(azure: Azure, _request: Request) -> Reply:
    """GET /twin/settings."""
    return Reply(azure.service.settings.model_dump(mode="json"))


def put_settings(azure: Azure, request: Request) -> Reply:
    """PUT /twin/settings: what the body doesn't name stays as it is."""
    with azure.service.store.transaction():
        merged = azure.service.settings.model_dump(mode="json") | request.object()
        try:
            settings = Settings.model_validate(merged)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ArmError(400, "InvalidParameter", f"The setting '{where}' is wrong: {first['msg']}.") from error
        azure.service.store.put_settings(settings)
    return Reply(settings.model_dump(mode="json"))
