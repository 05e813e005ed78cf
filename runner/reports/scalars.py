"""Plain values as a person reads them, whatever their size."""

from __future__ import annotations

import math

_SHOWN_BITS = 512


def display(value: object) -> str:
    """``n/a`` for nothing, six decimals for a ratio; numbers of any length stay on one line."""
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        # A report may hold numbers of thousands of digits, whose sum Python itself refuses to print.
        return str(value) if value.bit_length() <= _SHOWN_BITS else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value)


def ratio(part: int, whole: int) -> float | None:
    """``part / whole`` to six decimals; ``None`` without a whole, or when no double can hold it."""
    if whole <= 0:
        return None
    try:
        return rounded(float(part) / float(whole))
    except OverflowError:
        return None


def rounded(value: float) -> float | None:
    """Six decimals, and no negative zero; ``None`` for what is not finite."""
    if not math.isfinite(value):
        return None
    return round(value, 6) or 0.0
