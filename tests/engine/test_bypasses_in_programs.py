"""Ways past a policy pack that only a program has: components, transforms, outputs, secrets, rendered charts."""

import re

import pytest

from tests.conftest import RunningTwin
from tests.engine.analyze import CHECKOUT, PACKS

PROJECT = f"""\
name: bypass
runtime:
  name: python
  options: {{virtualenv: {CHECKOUT / ".venv"}}}
"""

PROGRAM = """\
import pulumi
import pulumi_kubernetes as k8s
from pulumi_azure_native import resources

gpu = {"nvidia": {"managementMode": "Managed", "driverMode": "DRA"}}


def body(scale):
    return {"vmSize": "Standard_NC24ads_A100_v4", "count": 1, "gpuProfile": gpu, "enableAutoScaling": scale}


def pool(name, properties, **options):
    return resources.Resource(
        name,
        api_version="2026-08-02-preview",
        resource_group_name="rg-dev",
        resource_provider_namespace="Microsoft.ContainerService",
        parent_resource_path="managedClusters/aks-dev",
        resource_type="agentPools",
        resource_name_=name,
        properties=properties,
        opts=pulumi.ResourceOptions(**options),
    )


class Inner(pulumi.ComponentResource):
    def __init__(self, name, opts):
        super().__init__("shop:index:Inner", name, {}, opts)
        pool("nested", body(True), parent=self)


class Outer(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("shop:index:Outer", name)
        self.inner = Inner("inner", pulumi.ResourceOptions(parent=self))


class Deep(pulumi.ComponentResource):
    def __init__(self, level, opts=None):
        super().__init__("shop:index:Deep", f"deep{level}", {}, opts)
        below = pulumi.ResourceOptions(parent=self)
        pool("deep", body(True), parent=self) if level == 5 else Deep(level + 1, below)


def scaled(args):
    return pulumi.ResourceTransformResult({**args.props, "properties": body(True)}, args.opts)


def everywhere(args):
    return scaled(args) if args.name == "transformed" else None


pulumi.runtime.register_resource_transform(everywhere)
group = resources.ResourceGroup("rg", location="eastus")
outer = Outer("outer")
pool("adopted", body(True), parent=outer.inner)
Deep(1)
pool("transformed", body(False))
pool("optioned", body(False), transforms=[scaled])
parent = pulumi.ComponentResource("shop:index:Plain", "plain", {}, pulumi.ResourceOptions(transforms=[scaled]))
pool("inherited", body(False), parent=parent)
pool("secret", body(pulumi.Output.secret(True)))
pool("secrets", pulumi.Output.secret(body(True)))
pool("joined", pulumi.Output.all(True, "x").apply(lambda values: body(values[0])))
pool("later", body(group.id.apply(lambda _: True)))
pool("alllater", group.id.apply(lambda _: body(True)))
pool("right", body(False))

rendered = k8s.Provider("rendered", render_yaml_to_directory="rendered")
options = pulumi.ResourceOptions(provider=rendered)
container = {"name": "main", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}
template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}}
spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template}


def plugin(name):
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": spec}


k8s.apps.v1.DaemonSet("typed", metadata={"name": "typed"}, spec=spec, opts=options)
k8s.apiextensions.CustomResource(
    "custom", api_version="apps/v1", kind="DaemonSet", metadata={"name": "custom"}, spec=spec, opts=options
)
k8s.yaml.v2.ConfigGroup("text", yaml=TEXT, opts=options)
k8s.yaml.v2.ConfigGroup("objects", objs=[plugin("in-objects")], opts=options)
k8s.yaml.v2.ConfigFile("file", file="plugin.yaml", opts=options)
k8s.helm.v4.Chart("chart", chart="./chart", opts=options)
"""
PLUGIN = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: in-NAME}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: main, image: "nvcr.io/nvidia/k8s-device-plugin:v0.17.1"}]}
"""
POOLS = {"nested", "adopted", "deep", "transformed", "optioned", "inherited", "secret", "secrets", "joined"}
LATER = {"later", "alllater"}
PLUGINS = {"typed", "custom", "in-text", "in-objects", "in-file", "in-chart"}


@pytest.fixture(scope="module")
def output(twin: RunningTwin, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one preview of the program says."""
    folder = tmp_path_factory.mktemp("program")
    (folder / "Pulumi.yaml").write_text(PROJECT)
    (folder / "__main__.py").write_text(PROGRAM.replace("TEXT", repr(PLUGIN.replace("NAME", "text"))))
    (folder / "plugin.yaml").write_text(PLUGIN.replace("NAME", "file"))
    templates = folder / "chart" / "templates"
    templates.mkdir(parents=True)
    (folder / "chart" / "Chart.yaml").write_text("apiVersion: v2\nname: monitoring\nversion: 1.0.0\n")
    (templates / "agent.yaml").write_text(PLUGIN.replace("NAME", "chart"))
    twin.run("pulumi", "stack", "init", "bypass", cwd=folder)
    done = twin.run(
        "env", "-u", "KUBECONFIG", "pulumi", "preview", "--policy-pack", PACKS[0], "--diff", cwd=folder, ok=False
    )
    return done.stdout + done.stderr


def spoken(output: str, level: str, policy: str) -> set[str]:
    """The resources of which a policy speaks at a level."""
    return set(re.findall(rf"\[{level}\] \[severity: high\]  {policy}  \(\S+ (?:\S+/)?([\w-]+)\)", output))


def test_no_pool_passes(output: str):
    assert spoken(output, "mandatory", "dra-with-autoscaler") == POOLS


def test_what_only_an_update_knows_is_announced(output: str):
    assert spoken(output, "advisory", "dra-with-autoscaler") == LATER


def test_no_device_plugin_passes(output: str):
    assert spoken(output, "mandatory", "dual-advertisement") == PLUGINS
