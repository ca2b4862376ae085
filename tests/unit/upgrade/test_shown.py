"""A plan as text, picture and page."""

import xml.etree.ElementTree as ET
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import pytest

from aksgpu.facts.upgrades import ClusterVersions
from aksgpu.upgrade.model import Plan
from aksgpu.upgrade.page import html
from aksgpu.upgrade.picture import svg
from aksgpu.upgrade.plan import plan
from aksgpu.upgrade.text import text
from tests.unit.upgrade.clusters import cluster, pool

SVG = "{http://www.w3.org/2000/svg}"


def made(state: ClusterVersions, to: str) -> Plan:
    return plan(state, to, date(2026, 7, 15))


TWO_POOLS = cluster(
    "1.34.5",
    pool("sys", "1.34.5", 1, mode="System"),
    pool("gpunp", "1.34.5", 2, vm_size="Standard_NC24ads_A100_v4"),
)
WAY, NOTHING, REFUSED = (
    made(TWO_POOLS, "1.36"),
    made(cluster("1.36.2", pool("sys", "1.36.2")), "1.36"),
    made(TWO_POOLS, "1.33"),
)


def test_the_text_has_steps_news_estimate_and_commands():
    lines = text(WAY).splitlines()
    assert lines[0] == "Cluster aks (rg, eastus): from Kubernetes 1.34.5 to 1.36"
    assert "  1. control plane  1.34.5 -> 1.35.4  5 to 20 min" in lines
    assert any(line.strip().startswith("brings 1.35: AKS allows managed DRA pools") for line in lines)
    gpu = next(line for line in lines if line.startswith("  3. pool gpunp"))
    assert gpu.endswith("20 min to 2 h  adds 1 x Standard_NC24ads_A100_v4 (24 vCPUs of StandardNCADSA100v4Family)")
    total = next(line for line in lines if line.startswith("In all"))
    assert total.startswith("In all: 6 steps, 1 h 8 min to 6 h 28 min; extra nodes at a time: 1 x Standard_D4s_v5 (4")
    assert sum(line.startswith("  az aks") for line in lines) == 6


def test_the_text_says_when_there_is_nothing_to_do():
    assert "Nothing to do: the control plane and every pool are on 1.36." in text(NOTHING)
    assert "assumes" not in text(NOTHING)


def test_the_text_says_why_there_is_no_way_and_the_way_out():
    assert "\nNo way: The control plane is on 1.34.5." in text(REFUSED)
    assert "\nWay out: Plan to 1.34 or later" in text(REFUSED)


def test_the_picture_has_a_lane_for_everything_and_a_stop_for_every_move():
    root = ET.fromstring(svg(WAY))
    labels = [element.text for element in root.iter(f"{SVG}text")]
    assert [name for name in ("control plane", "sys", "gpunp") if name in labels] == ["control plane", "sys", "gpunp"]
    assert labels.count("1.35.4") == labels.count("1.36.2") == 3
    circles = list(root.iter(f"{SVG}circle"))
    assert len(circles) == 3 + 6
    hops = [line.get("x1") for line in root.iter(f"{SVG}line") if line.get("class") == "hop"]
    assert len(hops) == 2
    # A minor has one colour in every lane.
    colours = {circle.get("fill") for circle in circles}
    assert len(colours) == 3


def test_nothing_in_the_picture_lies_outside_it():
    root = ET.fromstring(svg(WAY))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for element in root.iter():
        for key, most in (("x", width), ("x2", width), ("cx", width), ("y", height), ("y2", height), ("cy", height)):
            assert 0 <= float(element.get(key) or "0") <= most


@pytest.mark.parametrize("found", [WAY, NOTHING, REFUSED], ids=["way", "nothing", "refused"])
def test_picture_and_page_need_no_other_file(found: Plan):
    for shown in (svg(found), html(found)):
        without_namespace = shown.replace("http://www.w3.org/2000/svg", "")
        assert "http" not in without_namespace
        assert "src=" not in without_namespace
        assert "@import" not in without_namespace


@pytest.mark.parametrize("found", [NOTHING, REFUSED], ids=["nothing", "refused"])
def test_the_picture_says_what_the_text_says(found: Plan):
    labels = [element.text or "" for element in ET.fromstring(svg(found)).iter(f"{SVG}text")]
    said = [line for line in text(found).splitlines() if line.startswith(("No way", "Way out", "Nothing"))]
    assert said
    assert [line for line in said if line not in labels] == []


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows = 0
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.rows += tag == "tr"
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(("found", "rows"), [(WAY, 7), (NOTHING, 0), (REFUSED, 0)], ids=["way", "nothing", "refused"])
def test_the_page_is_well_formed_and_lists_the_steps(found: Plan, rows: int):
    parser = Tags()
    parser.feed(html(found))
    assert parser.open == []
    assert parser.rows == rows


def test_names_can_not_break_the_picture_or_the_page():
    state = TWO_POOLS.model_copy(update={"name": "<script>&"})
    for shown in (svg(made(state, "1.36")), html(made(state, "1.36"))):
        assert "<script>" not in shown


def test_the_picture_in_the_guide_is_current():
    state = cluster(
        "1.33.8",
        pool("sys", "1.33.8", 2, mode="System"),
        pool("work", "1.32.9", 6, vm_size="Standard_D8s_v5", upgrades=("1.33.8",), settings={"max_surge": "33%"}),
        pool("gpunp", "1.33.8", 4, vm_size="Standard_NC24ads_A100_v4"),
    )
    file = Path(__file__).parents[3] / "docs" / "images" / "upgrade.svg"
    assert file.read_text(encoding="utf-8") == svg(made(state, "1.36")), f"write the new picture to {file}"
