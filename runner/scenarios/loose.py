"""What LiteTraffic's lax types let pass: taken as it takes them, and told."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from pydantic import BaseModel

from runner.errors import printable
from runner.sources.wording import describe

_MOST = 20


def loose_types(raw: Any, taken: Any, path: str = "") -> Iterator[str]:
    """One sentence for each place where the raw document has another type than what was made of it."""
    if isinstance(raw, dict):
        yield from _in_object(raw, taken, path)
    elif isinstance(raw, list) and isinstance(taken, tuple):
        for index, (value, item) in enumerate(zip(raw, taken, strict=True)):
            yield from loose_types(value, item, f"{path}.{index}")
    elif isinstance(taken, int | float) and type(raw) is not type(taken) and not _is_whole_for_float(raw, taken):
        yield f"{path}: is {describe(raw)}, taken as {describe(taken)}; write it so"


def _in_object(raw: dict[str, Any], taken: Any, path: str) -> Iterator[str]:
    for key, value in raw.items():
        field = "actor_class" if key == "class" else key
        item = getattr(taken, field) if isinstance(taken, BaseModel) else taken[key]
        if item is not value:  # what is free-form is kept as it is
            yield from loose_types(value, item, f"{path}.{printable(key)[:80]}" if path else key)


def _is_whole_for_float(raw: Any, taken: float) -> bool:
    return isinstance(taken, float) and type(raw) is int


def first_of(sentences: Iterator[str]) -> tuple[str, ...]:
    """At most 20 of them."""
    return tuple(islice(sentences, _MOST))
