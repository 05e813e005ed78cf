"""JSON that others wrote: an application's answers, a hook's last line, a pool. Bounded: nothing breaks later."""

from __future__ import annotations

import json
from typing import Any

MAX_NESTING = 100


def parsed(text: str | bytes) -> Any:
    """The value. Raises ValueError, in a few words, for what is no JSON, nested deeper than :data:`MAX_NESTING`, or has
    a number that JSON cannot say again: NaN, or one beyond a double.
    """
    try:
        value = json.loads(text, parse_constant=_refused, parse_float=_float)
    except RecursionError:
        raise ValueError(_DEEP) from None
    except ValueError:
        raise ValueError("no JSON") from None
    if _is_deep(value):
        raise ValueError(_DEEP)
    return value


_DEEP = f"nested deeper than {MAX_NESTING}"


def _is_deep(value: Any) -> bool:
    """Level by level: no recursion, whose own limit is what is to be kept away from."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_NESTING):
        level = [item for each in level for item in (each.values() if isinstance(each, dict) else each)
                 if isinstance(item, dict | list)]
    return bool(level)


def _float(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(text)
    return value


def _refused(text: str) -> None:
    raise ValueError(text)
