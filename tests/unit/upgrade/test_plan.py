"""The way of a cluster to a version."""

from datetime import date

import pytest

from aksgpu.errors import AksgpuError
from aksgpu.facts.upgrades import ClusterVersions
from aksgpu.upgrade.model import Plan
from aksgpu.upgrade.plan import plan
from tests.unit.upgrade.clusters import LTS, cluster, pool

DAY = date(2026, 7, 15)


def steps(found: Plan) -> list[str]:
    """Write steps as `control plane 1.33.8>1.34.5`."""
    return [" + ".join(f"{move.what} {move.before}>{move.after}" for move in step.moves) for step in found.steps]


def planned(state: ClusterVersions, to: str | None = None, **options: bool) -> list[str]:
    found = plan(state, to, DAY, **options)
    assert found.refusal is None
    return steps(found)


def refused(state: ClusterVersions, to: str | None = None, day: date = DAY) -> str:
    found = plan(state, to, day)
    assert found.refusal is not None
    assert found.steps == ()
    return f"{found.refusal.reason} {found.refusal.way_out}"


def test_the_pools_follow_after_every_hop_those_with_gpus_last():
    state = cluster(
        "1.33.8",
        pool("agpu", "1.33.8", vm_size="Standard_NC24ads_A100_v4"),
        pool("work", "1.33.7"),
        pool("sys", "1.33.8", mode="System"),
    )
    assert planned(state, "1.35") == [
        "control plane 1.33.8>1.34.5",
        "sys 1.33.8>1.34.5",
        "work 1.33.7>1.34.5",
        "agpu 1.33.8>1.34.5",
        "control plane 1.34.5>1.35.4",
        "sys 1.34.5>1.35.4",
        "work 1.34.5>1.35.4",
        "agpu 1.34.5>1.35.4",
    ]


def test_a_pool_that_is_behind_catches_up_first():
    state = cluster("1.35.3", pool("old", "1.33.7", upgrades=("1.33.8", "1.34.4", "1.34.5")))
    assert planned(state, "1.36") == [
        "old 1.33.7>1.34.5",
        "old 1.34.5>1.35.3",
        "control plane 1.35.3>1.36.2",
        "old 1.35.3>1.36.2",
    ]


def test_what_azure_reports_for_a_pool_counts_more_than_the_rule():
    state = cluster("1.35.4", pool("old", "1.33.7", upgrades=("1.34.5", "1.35.4")))
    assert planned(state, "1.35") == ["old 1.33.7>1.35.4"]


@pytest.mark.parametrize(
    ("version", "target"),
    [("1.33.8", "1.35"), ("1.34.5", "1.35"), ("1.35.3", "1.36"), ("1.36.1", "1.36")],
)
def test_without_a_target_it_is_what_managed_dra_needs_and_then_the_newest(version: str, target: str):
    assert plan(cluster(version), None, DAY).target == target


def test_without_a_target_a_preview_minor_is_not_the_newest():
    assert plan(cluster("1.35.3", preview=(36,)), None, DAY).target == "1.35"
    assert plan(cluster("1.35.3", preview=(36,)), None, DAY, preview=True).target == "1.36"


def test_a_minor_is_met_by_any_of_its_patches_and_a_patch_only_by_itself():
    state = cluster("1.35.3", pool("sys", "1.35.3", upgrades=()))
    found = plan(state, "1.35", DAY)
    assert (found.steps, found.refusal) == ((), None)
    assert any("--to 1.35.4" in text for text in found.warnings)
    assert planned(state, "1.35.4") == ["control plane 1.35.3>1.35.4", "sys 1.35.3>1.35.4"]


def test_a_patch_is_reached_over_the_newest_patches_of_the_minors_between():
    assert planned(cluster("1.33.7", pool("sys", "1.33.7")), "1.35.3") == [
        "control plane 1.33.7>1.34.5",
        "sys 1.33.7>1.34.5",
        "control plane 1.34.5>1.35.3",
        "sys 1.34.5>1.35.3",
    ]


def test_preview_versions_only_when_asked_for():
    state = cluster("1.35.4", pool("sys", "1.35.4"), preview=(36,))
    assert "1.36 is a preview version in eastus" in refused(state, "1.36")
    assert planned(state, "1.36", preview=True) == ["control plane 1.35.4>1.36.2", "sys 1.35.4>1.36.2"]


def test_a_pool_is_not_taken_to_its_control_planes_preview_by_accident():
    state = cluster("1.36.1", pool("sys", "1.35.4"), preview=(36,))
    assert "1.36.1 is a preview version" in refused(state, "1.36")


def test_there_is_nothing_to_do_on_a_preview_that_is_reached():
    assert planned(cluster("1.36.1", pool("sys", "1.36.1"), preview=(36,)), "1.36") == []


@pytest.mark.parametrize("channel", ["patch", "stable", "rapid"])
def test_with_an_upgrade_channel_everything_moves_in_one_request(channel: str):
    state = cluster(
        "1.34.5", pool("sys", "1.34.5", mode="System"), pool("old", "1.33.8", upgrades=("1.34.5",)), channel=channel
    )
    assert planned(state, "1.35") == [
        "old 1.33.8>1.34.5",
        "control plane 1.34.5>1.35.4 + sys 1.34.5>1.35.4 + old 1.34.5>1.35.4",
    ]
    assert any(
        f"channel {channel} upgrades this cluster by itself" in text for text in plan(state, "1.35", DAY).warnings
    )


@pytest.mark.parametrize("channel", ["none", "node-image"])
def test_the_other_channels_leave_the_steps_apart(channel: str):
    state = cluster("1.34.5", pool("sys", "1.34.5"), channel=channel)
    assert [step.kind for step in plan(state, "1.35", DAY).steps] == ["control-plane", "node-pool"]


def test_out_of_support_the_whole_cluster_skips_to_what_is_supported():
    state = cluster("1.33.8", pool("sys", "1.33.7"), minors=(35, 36))
    found = plan(state, "1.36", date(2026, 12, 15))
    assert steps(found) == [
        "control plane 1.33.8>1.35.4 + sys 1.33.7>1.35.4",
        "control plane 1.35.4>1.36.2",
        "sys 1.35.4>1.36.2",
    ]
    assert any("skips minors" in text for text in found.warnings)
    assert any("out of support since 2026-07-31" in text and "--tier premium" in text for text in found.warnings)


def test_out_of_support_a_pool_that_is_behind_goes_with_the_cluster():
    assert planned(cluster("1.34.5", pool("old", "1.33.8"), minors=(36,)), "1.36") == [
        "control plane 1.34.5>1.36.2 + old 1.33.8>1.36.2"
    ]


def test_with_long_term_support_no_minor_is_skipped_even_when_azure_would():
    state = cluster(
        "1.33.8",
        pool("sys", "1.33.8"),
        lts_only=(33, 34),
        support_plan=LTS,
        upgrades=("1.34.4", "1.34.5", "1.35.4", "1.36.2"),
    )
    hops = [step for step in planned(state, "1.36") if step.startswith("control plane")]
    assert hops == ["control plane 1.33.8>1.34.5", "control plane 1.34.5>1.35.4", "control plane 1.35.4>1.36.2"]


def test_with_long_term_support_a_minor_that_is_gone_is_skipped():
    state = cluster("1.33.8", minors=(33, 35, 36), lts_only=(33,), support_plan=LTS, upgrades=("1.35.4",))
    assert planned(state, "1.36") == ["control plane 1.33.8>1.35.4", "control plane 1.35.4>1.36.2"]


@pytest.mark.parametrize(
    ("state", "to", "said"),
    [
        (cluster("1.35.3"), "1.34", "on 1.35.3. AKS never takes a cluster back to 1.34. Plan to 1.35 or later"),
        (cluster("1.35.4"), "1.35.3", "never takes a cluster back to 1.35.3"),
        (cluster("1.35.3"), "1.41", "AKS does not offer 1.41 in eastus. Choose one of 1.35.3, 1.35.4, 1.36.1, 1.36.2."),
        (cluster("1.35.3"), "1.36.9", "AKS does not offer 1.36.9 in eastus."),
        (
            cluster("1.33.8", minors=(33, 34, 35), lts_only=(33, 34)),
            "1.34",
            "1.34 needs long-term support, and this cluster has the plan KubernetesOfficial. Choose one of 1.35.3",
        ),
        (cluster("1.34.5", upgrades=()), "1.35", "Azure lists no upgrade of this cluster at all"),
        (cluster("1.33.8", preview=(34,)), "1.35", "leads over a preview version"),
        (
            cluster("1.34.5", upgrades=("1.35.4",)),
            "1.35.3",
            "no way from 1.34.5 to 1.35.3. From 1.34.5 Azure accepts 1.35.4.",
        ),
        (cluster("1.35.3", pool("new", "1.35.4")), "1.35.3", "The pool new is on 1.35.4. AKS never takes a pool back"),
        (
            cluster("1.35.4", pool("old", "1.33.8"), minors=(34, 35, 36), lts_only=(34,)),
            "1.35",
            "The pool old can't leave 1.33.8: a pool moves one minor at a time",
        ),
        (
            cluster("1.35.4", pool("old", "1.33.8"), minors=(34, 35, 36), lts_only=(34,)),
            "1.35",
            "delete old. Or move the cluster to long-term support, which has the minor between",
        ),
    ],
)
def test_no_way_is_a_refusal_with_a_way_out(state: ClusterVersions, to: str, said: str):
    assert said in refused(state, to)


def test_a_target_that_is_no_version_is_bad_usage():
    with pytest.raises(AksgpuError, match=r"'latest' is no Kubernetes version\. Give a minor such as 1\.35"):
        plan(cluster("1.35.3"), "latest", DAY)


def test_each_hop_says_what_it_brings():
    news = [step.brings for step in plan(cluster("1.33.8"), "1.36", DAY).steps]
    assert [text.partition(":")[0] for text in (line for lines in news for line in lines)] == [
        "1.34", "1.34", "1.35", "1.35", "1.36", "1.36",
    ]  # fmt: skip
    assert "resource.k8s.io/v1 appears" in news[0][0]
    assert "managed DRA pools" in news[1][0]
    assert "stops dropping" in news[2][0]


def test_a_patch_brings_nothing():
    assert plan(cluster("1.35.3"), "1.35.4", DAY).steps[0].brings == ()


def test_the_commands_do_what_the_steps_say():
    state = cluster("1.34.5", pool("sys", "1.34.5"))
    assert [step.command for step in plan(state, "1.35", DAY).steps] == [
        "az aks upgrade --resource-group rg --name aks --kubernetes-version 1.35.4 --control-plane-only",
        "az aks nodepool upgrade --resource-group rg --cluster-name aks --name sys --kubernetes-version 1.35.4",
    ]
    together = plan(state.model_copy(update={"channel": "stable"}), "1.35", DAY).steps
    assert together[0].command == "az aks upgrade --resource-group rg --name aks --kubernetes-version 1.35.4"


def test_a_plan_is_json_with_a_version():
    data = plan(cluster("1.34.5", pool("sys", "1.34.5")), "1.35", DAY).model_dump(mode="json", by_alias=True)
    assert data["version"] == 1
    assert data["today"] == "2026-07-15"
    assert data["steps"][0]["moves"] == [{"what": "control plane", "from": "1.34.5", "to": "1.35.4"}]
    assert data["refusal"] is None
