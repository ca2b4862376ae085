"""In which namespace an object is."""

from aksgpu.facts.truth import Maybe, Unknown


def effective(namespace: Maybe[str]) -> str | Unknown:
    """Return the namespace that an object gets: one that is left out is `default`."""
    return namespace if isinstance(namespace, Unknown) else namespace or "default"
