import base64
import json

import pytest

from twin.azure_native import parameterize, settings
from twin.errors import TwinError

WIRE = b"eyJtb2R1bGUiOiJjb250YWluZXJzZXJ2aWNlIiwidmVyc2lvbiI6InYyMDI2MDUwMnByZXZpZXcifQ=="


@pytest.mark.parametrize("version", ["2026-05-02-preview", "v20260502preview", "20260502preview"])
def test_arguments_of_package_add(version, metadata):
    parameter = parameterize.from_arguments(["containerservice", version])
    assert parameter.package == "azure-native_containerservice_v20260502preview"
    parameterize.check(parameter, metadata)


def test_the_value_in_a_generated_sdk():
    assert parameterize.from_value(WIRE) == parameterize.Parameter("containerservice", "v20260502preview")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["containerservice"], r"expected 2 arguments \(module and API version\), got 1"),
        (["containerservice", "soon"], "invalid API version: soon"),
    ],
)
def test_bad_arguments(arguments, text):
    with pytest.raises(TwinError, match=text):
        parameterize.from_arguments(arguments)


@pytest.mark.parametrize(
    ("module", "version", "text"),
    [
        ("compute", "v20250401", "module compute not found. Some modules were renamed in v3"),
        (
            "containerservice",
            "v20260602preview",
            (
                "no resources found for module containerservice at API version v20260602preview. Available API "
                "versions: .*v20260502preview"
            ),
        ),
    ],
)
def test_packages_that_do_not_exist(metadata, module, version, text):
    with pytest.raises(TwinError, match=text):
        parameterize.check(parameterize.Parameter(module, version), metadata)


@pytest.mark.parametrize("value", [b"%%%", base64.b64encode(json.dumps(["x"]).encode())])
def test_a_broken_value(value):
    with pytest.raises(TwinError, match="failed to deserialize"):
        parameterize.from_value(value)


@pytest.fixture
def environment(monkeypatch, tmp_path):
    token = tmp_path / "token"
    token.write_text("abc\n")
    for name, value in {
        "AKSGPU_ARM_ENDPOINT": "http://127.0.0.1:1",
        "AKSGPU_ARM_TOKEN_FILE": str(token),
        "AZURE_SUBSCRIPTION_ID": "from-environment",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("REQUESTS_CA_BUNDLE", "ARM_SUBSCRIPTION_ID"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_configuration_wins_over_the_environment(environment):
    assert settings.configure({}).subscription == "from-environment"
    configured = settings.configure({"subscriptionId": "mine", "location": "eastus"})
    assert (configured.subscription, configured.location) == ("mine", "eastus")
    assert configured.client.token == "abc"


@pytest.mark.parametrize("name", ["AKSGPU_ARM_ENDPOINT", "AKSGPU_ARM_TOKEN_FILE", "AZURE_SUBSCRIPTION_ID"])
def test_outside_the_twin_it_says_how_to_get_in(environment, name):
    environment.delenv(name)
    with pytest.raises(TwinError, match=f"{name} is not set.*aksgpu twin exec"):
        settings.configure({})


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("AKSGPU_ARM_TOKEN_FILE", "/nowhere", "can't be read"),
        ("REQUESTS_CA_BUNDLE", "/nowhere", "REQUESTS_CA_BUNDLE"),
    ],
)
def test_files_that_are_not_there(environment, name, value, text):
    environment.setenv(name, value)
    with pytest.raises(TwinError, match=text):
        settings.configure({})
