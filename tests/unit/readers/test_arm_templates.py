"""Pools in ARM templates, wherever a template can be written."""

import json
from typing import Any

import pytest

from aksgpu.facts.pools import PoolFacts
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers import arm_templates
from aksgpu.readers.arm_expressions import Scope
from aksgpu.readers.pulumi_resources import PulumiResource, read

SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
POOL: dict[str, Any] = {
    "type": "Microsoft.ContainerService/managedClusters/agentPools",
    "apiVersion": "2026-08-02-preview",
    "name": "aks/gpunp",
    "properties": {"gpuProfile": {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}}},
}
CHILD = {**POOL, "type": "agentPools", "name": "gpunp"}
CLUSTER: dict[str, Any] = {
    "type": "Microsoft.ContainerService/managedClusters",
    "apiVersion": "2026-08-02-preview",
    "name": "aks",
    "properties": {"kubernetesVersion": "1.35"},
}
NESTED = {"type": "Microsoft.Resources/deployments", "name": "inner", "resourceGroup": "rg"}


def template(*resources: object, **rest: object) -> dict[str, Any]:
    return {"$schema": SCHEMA, "resources": list(resources), **rest}


def pools(template: object, parameters: object = None, type_: str = "azure-native:resources:Deployment"):
    props = {"resourceGroupName": "rg", "properties": {"template": template, "parameters": parameters}}
    return read(PulumiResource(type_, "urn", props)).pools


def only(*args: Any) -> PoolFacts:
    (pool,) = pools(*args)
    return pool


@pytest.mark.parametrize(
    "written",
    [
        template(POOL),
        {**template(), "languageVersion": "2.0", "resources": {"pool": POOL}},
        template({**CLUSTER, "resources": [CHILD]}),
        template({**CLUSTER, "resources": [{**CHILD, "type": POOL["type"]}]}),
        template({**NESTED, "properties": {"template": template(POOL)}}),
        template(
            {**NESTED, "properties": {"expressionEvaluationOptions": {"scope": "inner"}, "template": template(POOL)}}
        ),
        template({**POOL, "type": "MICROSOFT.CONTAINERSERVICE/managedclusters/AGENTPOOLS"}),
        template({**POOL, "condition": "[equals(1, 1)]"}),
        json.dumps(template(POOL)),
    ],
)
def test_a_pool_wherever_a_template_has_it(written: object):
    pool = only(written)
    assert (pool.name, pool.cluster.name, pool.cluster.resource_group) == ("gpunp", "aks", "rg")
    assert (pool.management_mode, pool.driver_mode) == ("Managed", "DRA")
    assert (pool.form.kind, pool.form.api_version) == ("template", "2026-08-02-preview")


@pytest.mark.parametrize(
    "type_",
    [
        "azure-native:resources:DeploymentAtSubscriptionScope",
        "azure-native:resources/v20240701:Deployment",
        "azure-native_resources_v20240701:resources:DeploymentAtManagementGroupScope",
        "azure-native:resources:DeploymentStackAtResourceGroup",
    ],
)
def test_every_kind_of_deployment(type_: str):
    assert pools(template(POOL), None, type_)[0].driver_mode == "DRA"


def test_a_deployment_written_as_a_generic_resource_or_a_classic_one():
    generic = {
        "resourceProviderNamespace": "Microsoft.Resources",
        "resourceType": "deployments",
        "properties": {"template": template(POOL)},
    }
    classic = {"templateContent": json.dumps(template(POOL)), "resourceGroupName": "rg"}
    kind = "azure:core/resourceGroupTemplateDeployment:ResourceGroupTemplateDeployment"
    for type_, props in (("azure-native:resources:Resource", generic), (kind, classic)):
        (pool,) = read(PulumiResource(type_, "urn", props)).pools
        assert pool.driver_mode == "DRA"


def test_parameters_and_variables():
    written = template(
        {**POOL, "name": "[concat(parameters('Cluster'), '/', variables('pool'))]", "properties": "[variables('p')]"},
        parameters={"cluster": {"type": "string"}, "mode": {"type": "string", "defaultValue": "DRA"}},
        variables={
            "pool": "gpunp",
            "p": {"gpuProfile": {"nvidia": {"driverMode": "[parameters('mode')]", "managementMode": "Managed"}}},
        },
    )
    pool = only(written, {"cluster": {"value": "aks"}})
    assert (pool.cluster.name, pool.name, pool.driver_mode) == ("aks", "gpunp", "DRA")
    assert only(written, {"mode": {"value": "DevicePlugin"}}).driver_mode == "DevicePlugin"
    assert only(written, {"mode": {"reference": {"secretName": "x"}}}).driver_mode is UNKNOWN
    assert only(written, UNKNOWN).driver_mode is UNKNOWN


def test_a_template_inside_sees_the_parameters_of_its_own_scope():
    mode = {"parameters": {"mode": {"defaultValue": "DevicePlugin"}}}
    pool = {**POOL, "properties": {"gpuProfile": {"nvidia": {"driverMode": "[parameters('mode')]"}}}}

    def seen(**options: object) -> object:
        inner = {"template": template(pool, **mode), "parameters": {"mode": {"value": "DRA"}}, **options}
        return only(template({**NESTED, "properties": inner}, **mode)).driver_mode

    assert seen() == "DevicePlugin"
    assert seen(expressionEvaluationOptions={"scope": "inner"}) == "DRA"


@pytest.mark.parametrize(
    "deployment",
    [{"templateLink": {"uri": "https://x"}}, {"template": UNKNOWN}, {"template": "{"}, UNKNOWN],
)
def test_a_template_that_cannot_be_seen_is_undecided(deployment: object):
    props = {"properties": deployment}
    (pool,) = read(PulumiResource("azure-native:resources:Deployment", "urn", props)).pools
    assert (pool.management_mode, pool.driver_mode, pool.vm_size) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert pool.malformed == ()


def test_what_is_not_deployed_is_not_read():
    assert pools(template({**POOL, "condition": False}, {**POOL, "existing": True})) == ()
    assert pools(template({"type": "Microsoft.Storage/storageAccounts", "name": "x", "properties": {}})) == ()


def test_loops_are_unknown():
    inline = {**CLUSTER, "properties": {"copy": [{"name": "agentPoolProfiles", "count": 2, "input": {}}]}}
    assert only(template(inline)).driver_mode is UNKNOWN
    looped = only(template({**POOL, "name": "[concat('aks/gpu', copyIndex())]"}))
    assert (looped.name, looped.driver_mode) == (UNKNOWN, "DRA")


def test_a_template_file():
    data = template(CLUSTER, POOL)
    assert arm_templates.recognises(data)
    estate = arm_templates.read(data, "azureDeploy.json").estate
    (cluster,), (pool,) = estate.clusters, estate.pools
    assert cluster.is_meant_by(pool.cluster) is True
    assert (pool.place.file, pool.place.path) == ("azureDeploy.json", "resources[1]")
    assert not arm_templates.recognises({"$schema": SCHEMA.replace("deploymentTemplate", "deploymentParameters")})


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("plain", "plain"),
        ("[[literal]", "[literal]"),
        ("['it''s']", "it's"),
        ("[format('{0}/{1}', parameters('a'), 1)]", "x/1"),
        ("[parameters('group').list[1]]", "two"),
        ("[toLower('ABC')]", "abc"),
        ("[if(true(), 'a', 'b')]", "a"),
        ("[concat('a', reference('x').y)]", UNKNOWN),
        ("[uniqueString(resourceGroup().id)]", UNKNOWN),
        ("[variables('loop')]", UNKNOWN),
        ("[parameters('none')]", UNKNOWN),
        ("[concat('a'", "[concat('a'"),
        ("[concat('a']", UNKNOWN),
        ("[a b]", UNKNOWN),
    ],
)
def test_expressions(expression: str, value: object):
    scope = Scope({"a": "x", "group": {"list": ["one", "two"]}}, {"loop": "[variables('loop')]"})
    assert scope.resolve(expression) == value
