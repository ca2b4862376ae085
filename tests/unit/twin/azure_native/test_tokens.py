import pytest

from twin.azure_native import tokens
from twin.errors import TwinError


@pytest.mark.parametrize(
    ("written", "kind", "version"),
    [
        ("azure-native:containerservice:AgentPool", "containerservice:AgentPool", None),
        (
            "azure-native:containerservice/v20260502preview:AgentPool",
            "containerservice:AgentPool",
            "2026-05-02-preview",
        ),
        (
            "azure-native_containerservice_v20260502preview:containerservice:AgentPool",
            "containerservice:AgentPool",
            "2026-05-02-preview",
        ),
        (
            "azure-native_containerservice_v20260501:containerservice/v20260501:AgentPool",
            "containerservice:AgentPool",
            "2026-05-01",
        ),
    ],
)
def test_the_spellings_of_a_token(written, kind, version):
    token = tokens.parse(written)
    assert (token.kind, token.version) == (kind, version)


@pytest.mark.parametrize("written", ["aws:ec2:Instance", "azure-native:AgentPool", "azure-native:x/2026:Y"])
def test_a_foreign_token_is_refused_by_name(written):
    with pytest.raises(TwinError, match=written):
        tokens.parse(written)


def test_api_versions_both_ways():
    assert tokens.sdk_version("2026-05-02-preview") == "v20260502preview"
    assert tokens.api_version("v20250901") == "2025-09-01"


def test_type_and_name_of_a_urn():
    urn = "urn:pulumi:dev::aksgpu::aksgpu:index:Pool$azure-native:resources:Resource::a::b"
    assert tokens.type_of_urn(urn) == "azure-native:resources:Resource"
    assert tokens.name_of_urn(urn) == "a::b"
