"""The settings: the defaults are the article's example, and every mistake is one clear paragraph."""

import json
from typing import Any

import pytest

from aksgpu.settings import SettingsError, load

CREATE = {"resourceGroup": "rg", "name": "aks", "location": "eastus"}
USE = {"resourceGroup": "rg", "name": "aks"}


def config(**keys: Any) -> dict[str, Any]:
    return {f"aksgpu:{key}": value for key, value in {"cluster": {"create": CREATE}, **keys}.items()}


def refused(**keys: Any) -> str:
    with pytest.raises(SettingsError) as error:
        load(config(**keys))
    return str(error.value)


def test_the_defaults_are_the_example_of_the_article():
    settings = load(config())
    assert settings.model_dump(mode="json", by_alias=True, exclude={"cluster"}, exclude_none=True) == {
        "previewFeature": "require",
        "protect": False,
        "pools": [
            {"name": "gpunp", "kind": "managed-dra", "vmSize": "Standard_NC24ads_A100_v4", "count": 1, "spot": False}
        ],
        "deviceClass": {"name": "aks-dra-gpu"},
        "namespaces": [
            {
                "name": "gpu-dra-example",
                "claims": [{"name": "gpu-claim", "count": 1, "selectors": []}],
                "claimTemplates": [],
            }
        ],
        "admission": "off",
        "validation": {
            "namespace": "gpu-dra-example",
            "claim": "gpu-claim",
            "job": "gpu-dra-validation",
            "pool": "gpunp",
        },
    }
    assert settings.cluster.create is not None
    assert settings.cluster.create.kubernetes_version == "1.35"


def test_structured_values_may_be_json_text_as_in_the_environment_of_a_program():
    text = {key: json.dumps(value) for key, value in config(pools=[{"count": 2}]).items()}
    assert load({**text, "aksgpu:previewFeature": "register"}) == load(
        config(pools=[{"count": 2}], previewFeature="register")
    )


def test_keys_of_other_namespaces_are_left_alone():
    assert load({**config(), "azure-native:location": "eastus", "kubernetes:context": "x"}) == load(config())


def test_an_existing_cluster_can_be_used():
    settings = load(config(cluster={"use": USE}))
    assert settings.cluster.create is None
    assert settings.cluster.use is not None
    assert settings.cluster.use.name == "aks"


def test_no_validation_job_without_the_pool_and_claim_it_would_use():
    assert load(config(pools=[{"name": "other"}])).validation is None
    assert load(config(namespaces=[])).validation is None
    assert load(config(pools=[{"kind": "managed-device-plugin"}])).validation is None


@pytest.mark.parametrize(
    ("keys", "parts"),
    [
        pytest.param({"pool": []}, ["aksgpu:pool ", "Did you mean pools?", "validation"], id="unknown key"),
        pytest.param(
            {"pools": [{"vmsize": "x"}]}, ["aksgpu:pools[0].vmsize", "Did you mean vmSize?"], id="unknown key inside"
        ),
        pytest.param(
            {"pools": [{"name": "gpupool000001"}]}, ["aksgpu:pools[0]", "gpupool000001", "13", "12"], id="name of 13"
        ),
        pytest.param({"pools": [{"name": "gpu-np"}]}, ["aksgpu:pools[0]", "gpu-np", "dashes"], id="dash in a name"),
        pytest.param({"pools": [{"name": ""}]}, ["aksgpu:pools[0]", "''"], id="empty name"),
        pytest.param({"pools": [{"count": 0}]}, ["aksgpu:validation.pool", "count 0"], id="count 0"),
        pytest.param({"pools": [{"count": -1}]}, ["aksgpu:pools[0].count is -1", "0 or more"], id="count -1"),
        pytest.param({"pools": [{"count": 1001}]}, ["aksgpu:pools[0].count is 1001", "1000 or less"], id="count 1001"),
        pytest.param({"pools": [{"count": "2"}]}, ['count is "2"', "text", "whole number"], id="count as text"),
        pytest.param({"pools": [{"count": True}]}, ["count is true", "whole number"], id="count as a switch"),
        pytest.param(
            {"pools": [{"vmSize": "Standard_NC24ads_A100_v5"}]},
            ["aksgpu:pools[0].vmSize", "Standard_NC24ads_A100_v5", "Standard_NC24ads_A100_v4"],
            id="unknown VM size",
        ),
        pytest.param(
            {"pools": [{"vmSize": "Standard_D4s_v5"}]},
            ["aksgpu:pools[0]", "Standard_D4s_v5", "Standard_NC24ads_A100_v4"],
            id="CPU-only size as a managed GPU pool",
        ),
        pytest.param(
            {"pools": [{"vmSize": "Standard_D4s_v5", "kind": "driver-only"}]},
            ["aksgpu:pools[0].vmSize", "Standard_D4s_v5", "driver-only"],
            id="CPU-only size as an unmanaged GPU pool",
        ),
        pytest.param({"pools": [{"vmSize": "D4s"}]}, ["aksgpu:pools[0].vmSize", '"D4s"'], id="not a VM size"),
        pytest.param({"pools": [{}, {}]}, ["aksgpu:pools[1].name", "gpunp"], id="two pools of one name"),
        pytest.param(
            {"pools": [{"kind": "managed_dra"}]},
            ["aksgpu:pools[0].kind", "managed_dra", "operator-managed", "Did you mean managed-dra?"],
            id="unknown kind",
        ),
        pytest.param({"pools": "oops"}, ['aksgpu:pools is "oops"', "a list"], id="text for a list"),
        pytest.param({"pools": None}, ["aksgpu:pools is null", "a list"], id="null for a list"),
        pytest.param({"pools": ["gpunp"]}, ['aksgpu:pools[0] is "gpunp"', "a group of keys"], id="text for a pool"),
        pytest.param(
            {"validation": {"namespace": "elsewhere"}},
            ["aksgpu:validation.namespace", "elsewhere", "gpu-dra-example"],
            id="claim in an undeclared namespace",
        ),
        pytest.param(
            {"validation": {"claim": "gpuclaim"}}, ["aksgpu:validation.claim", "Did you mean gpu-claim?"], id="claim"
        ),
        pytest.param(
            {"validation": {"pool": "gpunpp"}}, ["aksgpu:validation.pool", "Did you mean gpunp?"], id="unknown pool"
        ),
        pytest.param(
            {"pools": [{}, {"name": "plain", "kind": "cpu"}], "validation": {"pool": "plain"}},
            ["aksgpu:validation.pool", "managed-dra"],
            id="validation on a pool without DRA",
        ),
        pytest.param({"cluster": {"create": CREATE, "use": USE}}, ["aksgpu:cluster", "exactly one"], id="both"),
        pytest.param({"cluster": {}}, ["aksgpu:cluster", "exactly one"], id="neither"),
        pytest.param(
            {"cluster": {"create": {"name": "aks", "location": "eastus"}}},
            ["aksgpu:cluster.create.resourceGroup is missing"],
            id="missing key",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "kubernetesVersion": 1.35}}},
            ["aksgpu:cluster.create.kubernetesVersion is 1.35", "quotes", "1.4"],
            id="version without quotes",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "kubernetesVersion": "latest"}}},
            ["kubernetesVersion", '"latest"', "1.35"],
            id="not a version",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "kubernetesVersion": "1.34"}}},
            ["1.34", "1.35 or later", "AKSGPU102"],
            id="version too old for DRA",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "kubernetesVersion": "1.4"}}, "pools": []},
            ["aksgpu:cluster.create.kubernetesVersion", '"1.4"', "1.35"],
            id="version that AKS no longer offers",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "resourceGroup": "rg."}}},
            ["aksgpu:cluster.create.resourceGroup", "dot"],
            id="resource group",
        ),
        pytest.param(
            {"cluster": {"create": {**CREATE, "location": "East US"}}}, ["location", "eastus"], id="location's title"
        ),
        pytest.param(
            {"namespaces": [{"name": "a", "claims": [{"name": "x", "count": 0}]}]},
            ["aksgpu:namespaces[0].claims[0].count is 0", "1 or more"],
            id="claim of 0",
        ),
        pytest.param(
            {"namespaces": [{"name": "a", "claims": [{"name": "x", "count": 33}]}]},
            ["aksgpu:namespaces[0].claims[0].count is 33", "32 or less"],
            id="claim of 33",
        ),
        pytest.param({"namespaces": [{"name": "Team_A"}]}, ["aksgpu:namespaces[0].name", "Team_A"], id="DNS name"),
        pytest.param({"namespaces": [{"name": "a" * 64}]}, ["aksgpu:namespaces[0].name"], id="DNS name of 64"),
        pytest.param({"namespaces": [{"name": "a"}, {"name": "a"}]}, ["aksgpu:namespaces[1].name"], id="namespaces"),
        pytest.param(
            {"namespaces": [{"name": "a", "claims": [{"name": "x"}, {"name": "x"}]}]},
            ["aksgpu:namespaces[0].claims[1].name"],
            id="two claims of one name",
        ),
        pytest.param(
            {"namespaces": [{"name": "a", "claimTemplates": [{"name": "x", "selectors": [""]}]}]},
            ["aksgpu:namespaces[0].claimTemplates[0].selectors[0]", "CEL"],
            id="empty selector",
        ),
        pytest.param(
            {"namespaces": [{"name": "a", "claims": [{"name": "x", "selectors": "true"}]}]},
            ["selectors", "a list"],
            id="selectors as text",
        ),
        pytest.param({"deviceClass": {"name": "GPU"}}, ["aksgpu:deviceClass.name", '"GPU"'], id="class name"),
        pytest.param({"protect": "yes"}, ["aksgpu:protect", '"yes"', "true or false"], id="switch as text"),
        pytest.param(
            {"previewFeature": "yes"}, ["aksgpu:previewFeature", '"yes"', "require, register"], id="preview feature"
        ),
    ],
)
def test_a_mistake_is_one_paragraph_that_names_key_value_and_way_out(keys: dict[str, Any], parts: list[str]):
    text = refused(**keys)
    assert "\n" not in text
    assert "pydantic" not in text
    for part in parts:
        assert part in text


def test_all_mistakes_are_told_at_once():
    text = refused(pools=[{"count": -1}, {"kind": "x"}])
    assert len(text.splitlines()) == 2


def test_names_that_are_just_allowed():
    pools = [{"name": "gpupool00001"}, {"name": "g", "kind": "cpu", "vmSize": "Standard_D4s_v5"}]
    claims = [{"name": "x", "count": 32, "selectors": ["device.attributes['gpu.nvidia.com'].brand == 'Nvidia'"]}]
    settings = load(config(pools=pools, namespaces=[{"name": "a" * 63, "claims": claims, "claimTemplates": claims}]))
    assert [pool.name for pool in settings.pools] == ["gpupool00001", "g"]


def test_without_a_cluster_there_is_nothing_to_do():
    with pytest.raises(SettingsError, match="aksgpu:cluster is missing"):
        load({})
