"""Reads resource claims, their templates, device classes, and quotas over GPUs."""

from collections.abc import Iterator, Mapping

from aksgpu.facts.base import Malformed, Place
from aksgpu.facts.claims import ClaimFacts, DeviceClassFacts, DeviceRequest, QuotaFacts
from aksgpu.facts.clusters import ClusterRef
from aksgpu.facts.estate import Estate
from aksgpu.facts.truth import UNKNOWN, Maybe, Unknown
from aksgpu.readers.fields import Fields

GROUP = "resource.k8s.io"
_CLAIMS = {"ResourceClaim": "spec.devices", "ResourceClaimTemplate": "spec.spec.devices"}
_MODES = ("ExactCount", "All")


def reads(group: str, kind: str) -> bool:
    """Tell whether this module reads objects of a kind."""
    return (group == GROUP and (kind in _CLAIMS or kind == "DeviceClass")) or (
        group == "v1" and kind == "ResourceQuota"
    )


def read(api_version: str, kind: str, data: object, place: Place, cluster: ClusterRef) -> Estate:
    """Return the facts in one object; an empty estate for a quota that has nothing to do with GPUs."""
    fields = Fields(data)
    if kind == "ResourceQuota":
        return _quota(fields, place, cluster)
    if kind == "DeviceClass":
        return _device_class(api_version, fields, place, cluster)
    return _claim(api_version, kind, fields, place, cluster)


def _quota(fields: Fields, place: Place, cluster: ClusterRef) -> Estate:
    hard = fields.raw("spec.hard")
    if not isinstance(hard, Mapping):
        return Estate()  # unknown or malformed: nothing says that it is about GPUs
    ours = {
        str(key): UNKNOWN if isinstance(value, Unknown) else str(value)
        for key, value in hard.items()
        if "nvidia.com/" in str(key) or str(key).endswith("deviceclass.resource.k8s.io/devices")
    }
    if not ours:
        return Estate()
    known = {key: value for key, value in ours.items() if isinstance(value, str)}
    name, namespace = fields.text("metadata.name"), fields.text("metadata.namespace")
    quota = QuotaFacts(
        place=place,
        cluster=cluster,
        namespace=namespace,
        name=name,
        hard=known if len(known) == len(ours) else UNKNOWN,
        malformed=fields.problems,
    )
    return Estate(quotas=(quota,))


def _device_class(api_version: str, fields: Fields, place: Place, cluster: ClusterRef) -> Estate:
    selectors = _selectors(fields, "spec.selectors")
    name, extended = fields.text("metadata.name"), fields.text("spec.extendedResourceName")
    device_class = DeviceClassFacts(
        place=place,
        api_version=api_version,
        cluster=cluster,
        name=name,
        selectors=selectors,
        extended_resource_name=extended,
        malformed=fields.problems,
    )
    return Estate(device_classes=(device_class,))


def _claim(api_version: str, kind: str, fields: Fields, place: Place, cluster: ClusterRef) -> Estate:
    devices = _CLAIMS[kind]
    problems: list[Malformed] = []
    requests = _requests(fields, f"{devices}.requests", problems)
    written = tuple(_written(fields.raw(devices)))
    name, namespace = fields.text("metadata.name"), fields.text("metadata.namespace")
    claim = ClaimFacts.model_validate(
        {
            "place": place,
            "kind": kind,
            "api_version": api_version,
            "cluster": cluster,
            "namespace": namespace,
            "name": name,
            "requests": requests,
            "fields": written,
            "malformed": (*fields.problems, *problems),
        }
    )
    return Estate(claims=(claim,))


def _requests(fields: Fields, path: str, problems: list[Malformed]) -> Maybe[tuple[DeviceRequest, ...]]:
    items = fields.known_items(path)
    if isinstance(items, Unknown):
        return UNKNOWN
    return tuple(_request(item, f"{path}[{index}]", problems) for index, item in enumerate(items or []))


def _request(item: object, path: str, problems: list[Malformed]) -> DeviceRequest:
    part = Fields(item, prefix=f"{path}.")
    name = part.text("name")
    alternatives = _requests(part, "firstAvailable", problems) if part.raw("firstAvailable") is not None else ()
    # v1beta1 has the fields of `exactly` in the request itself.
    wrapped = part.raw("exactly")
    inner, where = (part, path) if wrapped is None else (Fields(wrapped, prefix=f"{path}.exactly."), f"{path}.exactly")
    request = DeviceRequest(
        path=where,
        name=name,
        device_class=UNKNOWN if isinstance(wrapped, Unknown) else inner.text("deviceClassName"),
        allocation_mode=inner.choice("allocationMode", _MODES),
        count=inner.whole("count"),
        selectors=_selectors(inner, "selectors"),
        fields=tuple(_keys(wrapped if wrapped is not None else item)),
        alternatives=alternatives if isinstance(alternatives, tuple) else (),
    )
    problems += part.problems
    if wrapped is not None:
        problems += inner.problems
    return request


def _selectors(fields: Fields, path: str) -> Maybe[tuple[str, ...]]:
    items = fields.items(path)
    if isinstance(items, Unknown):
        return UNKNOWN
    found = [Fields(item).raw("cel.expression") for item in items or []]
    if any(isinstance(expression, Unknown) for expression in found):
        return UNKNOWN
    return tuple(expression for expression in found if isinstance(expression, str))


def _keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from (str(key) for key, item in value.items() if item is not None)


def _written(devices: object) -> Iterator[str]:
    """Yield the paths that are written outside the requests, lists with their indexes."""
    if not isinstance(devices, Mapping):
        return
    for group, items in devices.items():
        if group == "requests" or not isinstance(items, list):
            continue
        for index, item in enumerate(items):
            yield from (f"{group}[{index}].{key}" for key in _keys(item))
