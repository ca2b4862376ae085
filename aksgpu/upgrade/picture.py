"""A plan as a picture (SVG): steps from left to right, a lane for the control plane and for each pool.

A lane has the colour of its minor, so that the eye sees which pool is behind. The picture needs no other file.
"""

from collections.abc import Iterator
from html import escape

from aksgpu.knowledge.kubernetes import parse_minor
from aksgpu.upgrade import words
from aksgpu.upgrade.model import CONTROL_PLANE, Plan, Step

_LEFT, _COLUMN, _TOP, _LANE, _RIGHT = 150, 96, 106, 58, 70
_LINE = 17
# Okabe and Ito's colours, which people with any colour vision can tell apart; in the order of minors.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1b1b1b}.title{font-size:16px;font-weight:600}"
    ".small{font-size:11px;fill:#555}.name{text-anchor:end;font-weight:600}.mid{text-anchor:middle}"
    ".hop{stroke:#bbb;stroke-dasharray:3 4}"
)


def svg(plan: Plan) -> str:
    """Return the picture of a plan, also of one without steps."""
    lanes = [CONTROL_PLANE, *(pool.name for pool in plan.pools)]
    bottom = _TOP + _LANE * len(lanes)
    notes = list(_notes(plan))
    # Letters are some 7 pixels wide, those of the title 10.
    widest = max(10 * len(words.heading(plan)), *(7 * len(line) for line in [words.terms(plan), *notes]))
    width = max(_x(len(plan.steps)) + _RIGHT, widest + 32)
    height = bottom + _LINE * (len(notes) + 1)
    title, size = escape(words.heading(plan)), f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="plan" {size}>',
            f'<title id="plan">{title}</title>',
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            f'<text class="title" x="16" y="28">{title}</text>',
            f'<text class="small" x="16" y="46">{escape(words.terms(plan))}</text>',
            *_columns(plan, bottom),
            *(line for number, name in enumerate(lanes) for line in _lane(plan, name, _TOP + _LANE * number + 20)),
            *(
                f'<text class="small" x="16" y="{bottom + _LINE * number}">{escape(line)}</text>'
                for number, line in enumerate(notes, start=1)
            ),
            "</svg>",
            "",
        ]
    )


def _x(number: int) -> int:
    """Return where a step is; 0 is before the first."""
    return _LEFT + 30 + _COLUMN * number


def _columns(plan: Plan, bottom: int) -> Iterator[str]:
    for step in plan.steps:
        x = _x(step.number)
        if step.kind != "node-pool":
            yield f'<line class="hop" x1="{x}" y1="{_TOP - 8}" x2="{x}" y2="{bottom - 18}"/>'
        yield f'<text class="mid" x="{x}" y="{_TOP - 29}">{step.number}</text>'
        takes = f"{step.minutes.low}\u2013{step.minutes.high} min"
        yield f'<text class="small mid" x="{x}" y="{_TOP - 14}">{takes}</text>'


def _lane(plan: Plan, name: str, y: int) -> Iterator[str]:
    version = plan.control_plane
    if name != CONTROL_PLANE:
        version = next(pool.version for pool in plan.pools if pool.name == name)
    yield f'<text class="name" x="{_LEFT}" y="{y + 5}">{escape(name)}</text>'
    stops = [(0, version), *((step.number, after) for step in plan.steps for after in _arrival(step, name))]
    ends = [number for number, _ in stops[1:]] + [len(plan.steps)]
    for (number, found), end in zip(stops, ends, strict=True):
        if end > number:
            yield (
                f'<line x1="{_x(number)}" y1="{y}" x2="{_x(end)}" y2="{y}" stroke="{_colour(plan, found)}" '
                'stroke-width="5"/>'
            )
    for number, found in stops:
        yield f'<circle cx="{_x(number)}" cy="{y}" r="8" fill="{_colour(plan, found)}"/>'
        yield f'<text class="mid" x="{_x(number)}" y="{y + 25}">{escape(found)}</text>'


def _arrival(step: Step, name: str) -> list[str]:
    return [move.after for move in step.moves if move.what == name]


def _colour(plan: Plan, version: str) -> str:
    """Return the colour of a version's minor, counted from the oldest of the plan."""
    found, oldest = (parse_minor(text) for text in (version, min(_all_versions(plan), key=_order)))
    behind = found.minor - oldest.minor if found and oldest else 0
    return _COLOURS[behind % len(_COLOURS)]


def _all_versions(plan: Plan) -> list[str]:
    return [plan.control_plane, *(pool.version for pool in plan.pools)]


def _order(version: str) -> tuple[int, int]:
    return parse_minor(version) or (0, 0)


def _notes(plan: Plan) -> Iterator[str]:
    if plan.refusal:
        yield f"No way: {plan.refusal.reason}"
        yield f"Way out: {plan.refusal.way_out}"
    elif plan.steps:
        yield f"In all {words.total(plan)}."
    else:
        yield f"Nothing to do: the control plane and every pool are on {plan.target}."
    for step in plan.steps:
        yield from (f"Step {step.number} brings {news}" for news in step.brings)
