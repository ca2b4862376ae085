"""Reads where pods may run: node selector, required node affinity, tolerations."""

from aksgpu.facts.nodes import Requirement, Selection, Toleration
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.readers.fields import Fields

_TERMS = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")


def read_selection(fields: Fields, selector: str, affinity: str) -> Maybe[Selection]:
    """Read a node selector and an affinity that lie at two dotted paths; unknown when a part of them is."""
    labels = fields.mapping(selector)
    terms = _terms(fields, f"{affinity}.{_TERMS}")
    if isinstance(labels, Unknown) or isinstance(terms, Unknown):
        return UNKNOWN
    return Selection(labels=labels or {}, terms=terms)


def read_tolerations(fields: Fields, path: str) -> Maybe[tuple[Toleration, ...]]:
    """Read a list of tolerations; None when there is none."""
    items = fields.items(path)
    if items is None or isinstance(items, Unknown):
        return items
    read = [_toleration(fields, item, f"{path}[{index}]") for index, item in enumerate(items)]
    known = tuple(item for item in read if isinstance(item, Toleration))
    return known if len(known) == len(read) else UNKNOWN


def _toleration(fields: Fields, item: object, path: str) -> Toleration | Unknown:
    part = Fields(item, prefix=f"{path}.")
    values = (part.text("key"), part.choice("operator", ("Equal", "Exists")), part.text("value"), part.text("effect"))
    seconds = part.whole("tolerationSeconds")
    fields.adopt(part)
    if any(isinstance(value, Unknown) for value in values):
        return UNKNOWN
    key, operator, value, effect = values
    return Toleration.model_validate(
        {
            "key": key or "",
            "operator": operator or "Equal",
            "value": value or "",
            "effect": effect or "",
            "seconds": seconds,
        }
    )


def _terms(fields: Fields, path: str) -> tuple[tuple[Requirement, ...], ...] | Unknown:
    items = fields.items(path)
    if isinstance(items, Unknown):
        return UNKNOWN
    read = [_term(fields, item, f"{path}[{index}]") for index, item in enumerate(items or [])]
    known = tuple(term for term in read if not isinstance(term, Unknown))
    return known if len(known) == len(read) else UNKNOWN


def _term(fields: Fields, item: object, path: str) -> tuple[Requirement, ...] | Unknown:
    part = Fields(item, prefix=f"{path}.")
    expressions, matched = part.items("matchExpressions"), part.items("matchFields")
    if isinstance(expressions, Unknown) or isinstance(matched, Unknown):
        fields.adopt(part)
        return UNKNOWN
    read = [_requirement(part, entry, f"matchExpressions[{index}]") for index, entry in enumerate(expressions or [])]
    # matchFields knows only metadata.name, which for AKS nodes is the host name.
    read += [Requirement(key="kubernetes.io/hostname", operator="Exists") for _ in matched or []]
    fields.adopt(part)
    known = tuple(entry for entry in read if isinstance(entry, Requirement))
    return known if len(known) == len(read) else UNKNOWN


def _requirement(fields: Fields, item: object, path: str) -> Requirement | Unknown:
    part = Fields(item, prefix=f"{path}.")
    key, operator, values = part.text("key"), part.choice("operator", _OPERATORS), part.texts("values")
    if key is None or operator is None:
        part.refuse("key" if key is None else "operator", None, "given")
    fields.adopt(part)
    if isinstance(key, str) and isinstance(operator, str) and not isinstance(values, Unknown):
        return Requirement.model_validate({"key": key, "operator": operator, "values": values or ()})
    return UNKNOWN
