import json
import re

import pytest

from twin.azure_native.parameterize import Parameter
from twin.azure_native.schema import package_schema

SDK_STRING = (
    "ZXlKdGIyUjFiR1VpT2lKamIyNTBZV2x1WlhKelpYSjJhV05sSWl3aWRtVnljMmx2YmlJNkluWXlNREkyTURVd01uQnlaWFpwWlhjaWZRPT0="
)
PACKAGE = Parameter("containerservice", "v20260502preview")


@pytest.mark.parametrize("parameter", [None, PACKAGE])
def test_every_reference_leads_to_a_type(metadata, parameter):
    text = package_schema(metadata, parameter)
    schema = json.loads(text)
    references = set(re.findall(r"#/types/([^\"]+)", text))
    assert references == schema["types"].keys()
    assert len(references) > 100
    assert all(token.startswith(schema["name"] + ":") for token in (*schema["resources"], *references))


def test_the_base_package_shows_what_it_would_drop(metadata):
    schema = json.loads(package_schema(metadata, None))
    assert list(schema["types"]["azure-native:containerservice:GPUProfile"]["properties"]) == ["driver"]
    generic = schema["resources"]["azure-native:resources:Resource"]
    assert generic["requiredInputs"] == [
        "apiVersion",
        "parentResourcePath",
        "resourceGroupName",
        "resourceProviderNamespace",
        "resourceType",
    ]
    assert "azure-native:authorization:getClientConfig" in schema["functions"]


def test_a_package_of_one_version(metadata):
    schema = json.loads(package_schema(metadata, PACKAGE))
    assert schema["parameterization"]["parameter"] == SDK_STRING
    nvidia = schema["types"]["azure-native_containerservice_v20260502preview:containerservice:NvidiaGPUProfile"]
    assert set(nvidia["properties"]) == {"managementMode", "migStrategy"}
    assert {token.partition(":")[2].partition(":")[0] for token in schema["resources"]} == {"containerservice"}
