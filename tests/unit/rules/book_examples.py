"""Turns the examples of the rules into facts, for every test that goes through the whole book."""

from aksgpu.facts.base import Place
from aksgpu.facts.clusters import ClusterChange, ClusterFacts
from aksgpu.facts.estate import Estate
from aksgpu.facts.pools import PoolChange
from aksgpu.readers.kube_objects import read_object
from aksgpu.readers.pulumi_resources import PulumiResource, read
from aksgpu.readers.stack_components import changed
from aksgpu.readers.values import read_stack
from aksgpu.rules import examples
from aksgpu.rules.book import BOOK
from aksgpu.rules.examples import Example, Resource
from aksgpu.rules.model import Rule

CASES = [(rule, example) for rule in BOOK for example in examples.load(rule)]
IDS = [f"{rule.name}: {example.verdict}: {example.title}" for rule, example in CASES]


def estate(example: Example) -> Estate:
    now = Estate.merge([_read(example.resources), _objects(example), _values(example), _cluster(example)])
    before = _read(example.before)
    changes = tuple(
        PoolChange(before=old, after=new) for old in before.pools for new in now.pools if old.name == new.name
    )
    cluster_changes = tuple(
        ClusterChange(before=old, after=new) for old in before.clusters for new in now.clusters if old.name == new.name
    )
    changed_parts = Estate(changes=changes, cluster_changes=cluster_changes, stack_changes=changed(before, now))
    return Estate.merge([now, changed_parts, Estate(today=example.today)])


def verdict(rule: Rule, example: Example) -> str:
    """What the rule says about its example: fail, undecided or pass."""
    found = [verdict.undecided for verdict in rule.check(estate(example))]
    return "pass" if not found else "undecided" if all(found) else "fail"


def _read(resources: tuple[Resource, ...]) -> Estate:
    return Estate.merge(
        read(PulumiResource(item.type, f"urn:pulumi:dev::aksgpu::{item.type}::{item.name}", item.properties))
        for item in resources
    )


def _cluster(example: Example) -> Estate:
    """The cluster of `--cluster-version`, which has no name."""
    if example.cluster_version is None:
        return Estate()
    place = Place(object="--cluster-version")
    return Estate(clusters=(ClusterFacts(place=place, kubernetes_version=example.cluster_version),))


def _values(example: Example) -> Estate:
    return Estate() if example.values is None else read_stack(example.values, example.advertiser)


def _objects(example: Example) -> Estate:
    return Estate.merge(
        read_object(item["apiVersion"], item["kind"], item, Place(object=f"{item['kind']} {item['metadata']['name']}"))
        for item in example.manifests
    )
