"""What Microsoft.ContainerService offers in a region."""

from twin.arm.azure import Azure
from twin.arm.http import Reply, Request
from twin.arm.versions import MINORS, default_minor, is_preview, offered, upgrades


def kubernetes_versions(azure: Azure, _request: Request) -> Reply:
    """GET …/Microsoft.ContainerService/locations/{location}/kubernetesVersions."""
    today = azure.service.settings.today
    community = offered(today)
    default = default_minor(today).name
    rows = [
        {
            "version": minor.name,
            "capabilities": {
                "supportPlan": (["KubernetesOfficial"] if minor in community else []) + ["AKSLongTermSupport"]
            },
            "isDefault": minor.name == default,
            "isPreview": is_preview(minor.patches[-1], today),
            "patchVersions": {
                patch: {"upgrades": upgrades(patch, today, long_term=minor not in community)} for patch in minor.patches
            },
        }
        for minor in MINORS
        if minor in offered(today, long_term=True)
    ]
    return Reply({"values": rows})
