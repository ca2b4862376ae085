"""The table of what each minor brings agrees with the other tables."""

from aksgpu.knowledge.kubernetes import GPU_STACK_MINIMUM, MANAGED_DRA_MINIMUM, RELEASES
from aksgpu.knowledge.upgrades import BRINGS, UPGRADING_CHANNELS
from aksgpu.settings.cluster import CreateCluster


def test_every_minor_that_a_hop_can_lead_to_brings_something():
    assert set(BRINGS) == {release.minor for release in RELEASES[1:]}


def test_the_api_appears_with_the_first_minor_that_serves_it_and_managed_dra_with_its_minimum():
    first = next(release.minor for release in RELEASES if release.dra == "stable")
    assert first == GPU_STACK_MINIMUM
    assert "resource.k8s.io/v1 appears" in BRINGS[first][0]
    assert "managed DRA pools" in BRINGS[MANAGED_DRA_MINIMUM][0]


def test_the_channels_are_ones_that_a_cluster_can_have():
    known = str(CreateCluster.model_fields["upgrade_channel"].annotation)
    assert [channel for channel in UPGRADING_CHANNELS if f"'{channel}'" not in known] == []
