"""How values of a hostile report are shown: short, on one line, safe on a terminal."""

from __future__ import annotations

from runner.errors import ReportError, printable

_SHOWN_CHARS = 40
_SHOWN_BITS = 128


def describe(value: object) -> str:
    """A value as a person would name it in a message. Never long, never raw."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return "an array"
    return "an object" if isinstance(value, dict) else "not a JSON value"


def _number(value: float) -> str:
    # Printing a huge integer is slow, and refused by Python beyond some length.
    bits = value.bit_length() if isinstance(value, int) else 0
    return repr(value) if bits <= _SHOWN_BITS else f"an integer of {bits} bits"


def quoted(text: str) -> str:
    """Text in quotes, escaped and cut."""
    dots = "…" if len(text) > _SHOWN_CHARS else ""
    return f'"{printable(text[:_SHOWN_CHARS])}{dots}"'


def wrong(path: str, value: object, expected: str) -> ReportError:
    """The error for a field whose value breaks a rule."""
    return ReportError(f"{path}: is {describe(value)}, expected {expected}")


def missing(path: str, expected: str) -> ReportError:
    """The error for a field that is not there."""
    return ReportError(f"{path}: is missing, expected {expected}")


def is_plain_text(text: str) -> bool:
    """Whether text can be encoded as UTF-8, that is, has no lone surrogate (JSON can spell one)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
