"""A plan as a page (HTML) that needs no other file."""

from collections.abc import Iterator, Sequence
from html import escape

from aksgpu.upgrade import words
from aksgpu.upgrade.model import Plan, Step
from aksgpu.upgrade.picture import svg

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;margin:2rem;max-width:75rem}"
    "table{border-collapse:collapse}th,td{text-align:left;vertical-align:top;padding:.3rem .9rem .3rem 0;"
    "border-bottom:1px solid #ddd}code{font-size:13px}.picture{overflow-x:auto}"
)


def html(plan: Plan) -> str:
    """Return the page of a plan."""
    title = escape(words.heading(plan))
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style></head><body>',
            f"<h1>{title}</h1>",
            f"<p>{escape(words.terms(plan))}. As of {plan.today}.</p>",
            f'<div class="picture">{svg(plan)}</div>',
            *_steps(plan.steps),
            *_list("Warnings", plan.warnings),
            *_list("The estimate assumes", plan.assumptions),
            "</body></html>",
            "",
        ]
    )


def _steps(steps: Sequence[Step]) -> Iterator[str]:
    if not steps:
        return
    titles = "".join(f"<th>{title}</th>" for title in ("", "Moves", "Versions", "Takes", "Adds", "Command"))
    yield f"<h2>Steps</h2><table><tr>{titles}</tr>"
    for step in steps:
        cells = (
            str(step.number),
            words.moves(step),
            words.versions(step),
            words.minutes(step.minutes),
            words.added(step.extra),
        )
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        yield f"<tr>{row}<td><code>{escape(step.command)}</code></td></tr>"
    yield "</table>"


def _list(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"<h2>{title}</h2><ul>"
        yield from (f"<li>{escape(line)}</li>" for line in lines)
        yield "</ul>"
