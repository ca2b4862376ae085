"""The one error type of the twin whose text is meant for a person."""


class TwinError(Exception):
    """Something a person has to know or do; the text is one clear paragraph, shown without a traceback."""
