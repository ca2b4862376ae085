"""The error whose text is meant for a person."""


class AksgpuError(Exception):
    """One clear paragraph: what is wrong, where, and the way out. Shown without a traceback; exit code 2."""
