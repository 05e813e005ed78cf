"""Numbers out of documents that are a stranger's, and as a person reads them."""

from __future__ import annotations

import json
import math
from typing import Any

_LONGEST = 300
UNKNOWN = "n/a"


def at(document: object, *path: str) -> float | None:
    """The finite number at a path of keys, ``None`` where there is none."""
    value = inner(document, *path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and abs(value) < 1e15 else None


def inner(document: object, *path: str) -> object:
    """Whatever is at a path of keys, ``None`` where nothing is."""
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def parts(document: object) -> dict[str, Any]:
    """A document that should be an object, or an empty one."""
    return document if isinstance(document, dict) else {}


def listed(document: object) -> list[Any]:
    """A document that should be a list, or an empty one."""
    return document if isinstance(document, list) else []


def whole(value: float | None) -> str:
    """``1,234``."""
    return UNKNOWN if value is None else f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def milliseconds(value: float | None) -> str:
    """``0.87 ms``, ``12.3 ms``, ``1,204 ms``."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def share(value: float | None) -> str:
    """A rate as a percentage."""
    return UNKNOWN if value is None else f"{value * 100:.3g} %"


def bar_length(part: float | None) -> int:
    """A share as a bar's length in percent; what is more than all of it is all of it."""
    return 0 if part is None else max(0, min(100, round(100 * part)))


def short_json(value: object) -> str:
    """A value as compact JSON, cut."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
