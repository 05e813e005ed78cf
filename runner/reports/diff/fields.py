"""Two sets of plain values, compared key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Rows = list[dict[str, object]]
"""Each ``{"key", "a", "b"}``; a value that is not there is ``None``."""


def differing(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> Rows:
    """Dotted keys whose values are not the same, in order. Lists are compared as a whole."""
    left, right = dict(_leaves(a or {}, "")), dict(_leaves(b or {}, ""))
    keys = [*left, *(key for key in right if key not in left)]
    return [{"key": key, "a": left.get(key), "b": right.get(key)} for key in keys if left.get(key) != right.get(key)]


def _leaves(fields: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    for key, value in fields.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", list(value) if isinstance(value, tuple) else value
