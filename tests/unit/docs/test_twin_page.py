import re
from collections import Counter

from twin.faults import FAULTS
from twin.paths import CHECKOUT

PAGE = (CHECKOUT / "docs" / "twin.md").read_text()


def _grades() -> Counter[str]:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| behaviour")]
    return Counter(re.split(r" \(|,", row.rstrip(" |").rsplit("|", 1)[1].strip())[0] for row in rows)


def test_every_behaviour_has_one_of_three_grades_and_the_page_counts_them() -> None:
    grades = _grades()
    assert set(grades) == {"real part", "documented", "assumed"}
    told = [int(number) for number in re.findall(r"(\d+) (?:behaviours|are real|are documented|are assumed)", PAGE)]
    assert told == [grades.total(), grades["real part"], grades["documented"], grades["assumed"]]


def test_every_fault_is_on_the_page() -> None:
    assert [name for name in FAULTS if f"`{name}" not in PAGE] == []
