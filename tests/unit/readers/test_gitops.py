"""Charts that Flux and Argo CD install, and groups of YAML in Pulumi programs."""

import json
from typing import Any

import pytest

from aksgpu.facts.base import Place
from aksgpu.facts.components import GpuComponent
from aksgpu.facts.truth import UNKNOWN
from aksgpu.readers import kube_objects
from aksgpu.readers.pulumi_resources import PulumiResource, read

FLUX = "helm.toolkit.fluxcd.io/v2"
ARGO = "argoproj.io/v1alpha1"
OFF: dict[str, Any] = {"devicePlugin": {"enabled": False}}
PLUGIN = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "plugin"},
    "spec": {
        "template": {"spec": {"containers": [{"name": "p", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}]}}
    },
}


def operator(api_version: str, kind: str, spec: object) -> GpuComponent:
    data = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "gpu"}, "spec": spec}
    (found,) = kube_objects.read_object(api_version, kind, data, Place(object="x")).components
    return found


def test_a_flux_release():
    chart = {"chart": {"spec": {"chart": "gpu-operator"}}}
    assert operator(FLUX, "HelmRelease", chart).device_plugin is True
    assert operator(FLUX, "HelmRelease", {**chart, "values": OFF}).device_plugin is False
    below = {**chart, "valuesFrom": [{"kind": "ConfigMap", "name": "x"}]}
    assert operator(FLUX, "HelmRelease", below).device_plugin is UNKNOWN
    assert operator(FLUX, "HelmRelease", {**below, "values": OFF}).device_plugin is False


@pytest.mark.parametrize(
    ("helm", "on"),
    [
        ({}, True),
        ({"values": "devicePlugin: {enabled: false}"}, False),
        ({"valuesObject": OFF}, False),
        ({"values": "devicePlugin: {enabled: true}", "valuesObject": OFF}, False),
        ({"parameters": [{"name": "devicePlugin.enabled", "value": "false"}]}, False),
        ({"valueFiles": ["$values/x.yaml"]}, UNKNOWN),
    ],
)
def test_an_argo_application(helm: dict[str, Any], on: object):
    source = {"chart": "gpu-operator", "helm": helm}
    assert operator(ARGO, "Application", {"source": source}).device_plugin is on
    assert operator(ARGO, "Application", {"sources": [source, {"path": "x"}]}).device_plugin is on
    assert operator(ARGO, "ApplicationSet", {"template": {"spec": {"source": source}}}).device_plugin is on


def test_other_charts_are_nobody_s_business():
    data = {"spec": {"source": {"chart": "nginx", "repoURL": "https://x"}}}
    assert not kube_objects.read_object(ARGO, "Application", data, Place(object="x"))


@pytest.mark.parametrize("type_", ["kubernetes:yaml:ConfigGroup", "kubernetes:yaml/v2:ConfigGroup"])
def test_a_group_of_yaml_that_shows_no_children(type_: str, tmp_path: Any):
    text = json.dumps(PLUGIN)
    file = tmp_path / "plugin.json"
    file.write_text(text)
    for props in ({"objs": [PLUGIN]}, {"yaml": text}, {"yaml": [text]}, {"files": [str(file)]}, {"file": str(file)}):
        (found,) = read(PulumiResource(type_, "urn", props)).components
        assert found.product == "device-plugin"
    assert not read(PulumiResource(type_, "urn", {"files": UNKNOWN, "yaml": UNKNOWN}))


def test_lists_that_are_one_resource():
    bare = {key: value for key, value in PLUGIN.items() if key not in ("apiVersion", "kind")}
    for type_, item in (("kubernetes:apps/v1:DaemonSetList", bare), ("kubernetes:core/v1:List", PLUGIN)):
        (found,) = read(PulumiResource(type_, "urn", {"items": [item]})).components
        assert found.product == "device-plugin"


def test_a_values_file_that_is_not_known_stays_below_all_later_ones():
    files = [UNKNOWN, {"text": "toolkit: {enabled: false}"}]
    props = {"chart": "gpu-operator", "valueYamlFiles": files, "values": {"driver": {"enabled": False}}}
    (found,) = read(PulumiResource("kubernetes:helm.sh/v3:Release", "urn", props)).components
    assert (found.device_plugin, found.toolkit, found.driver) == (UNKNOWN, False, False)
