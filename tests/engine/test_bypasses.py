"""Nothing gets past the packs: many ways to write the same thing, and each is spoken of on the real engine."""

from collections import Counter, defaultdict

import pytest

from aksgpu.rules.examples import Example
from tests.conftest import RunningTwin
from tests.engine import bypasses
from tests.engine.analyze import EXAMPLE, Said, analyze
from tests.engine.bypasses import CONTROL, Bypass
from tests.engine.example_state import state_of
from tests.engine.pod_bypasses import POD_BYPASSES

BYPASSES = [*bypasses.BYPASSES, *POD_BYPASSES]


@pytest.fixture(scope="module")
def said(twin: RunningTwin, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, str], list[Said]]:
    examples = [(len(BYPASSES), Example("control", "pass", CONTROL))]
    examples += [(index, Example(item.title, "fail", item.resources)) for index, item in enumerate(BYPASSES)]
    found: dict[tuple[int, str], list[Said]] = defaultdict(list)
    for event in analyze(twin, state_of(examples), tmp_path_factory.mktemp("bypasses")):
        if match := EXAMPLE.search(event.urn):
            found[int(match[1]), event.policy].append(event)
    return found


@pytest.mark.parametrize(
    ("index", "bypass"), list(enumerate(BYPASSES)), ids=[f"{item.kind}: {item.title}" for item in BYPASSES]
)
def test_no_technique_passes(said: dict[tuple[int, str], list[Said]], index: int, bypass: Bypass):
    events = said.get((index, bypass.rule), [])
    spoken = {policy for number, policy in said if number == index}
    assert events, f"only {spoken or 'nobody'} spoke"
    assert {event.waits for event in events} == {bypass.waits}, [event.message for event in events]


def test_what_is_right_is_not_spoken_of(said: dict[tuple[int, str], list[Said]]):
    rules = {item.rule for item in BYPASSES}
    assert {policy for number, policy in said if number == len(BYPASSES)} & rules == set()


def test_there_are_many_of_each_kind():
    kinds = Counter(item.kind for item in BYPASSES)
    assert len(BYPASSES) >= 60
    assert min(kinds.values()) >= 3
    assert len({(item.kind, item.title) for item in BYPASSES}) == len(BYPASSES)
