"""What LiteTraffic's lax types let pass: taken as it takes them, and told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.sources.wording import describe

_MOST = 20


def loose_types(raw: Any, taken: Any, path: str = "") -> Iterator[str]:
    """One sentence for each place where the raw document has another type than what was made of it."""
    if isinstance(raw, dict) and isinstance(taken, dict):
        for key, value in raw.items():
            if key in taken:
                yield from loose_types(value, taken[key], f"{path}.{key}" if path else key)
    elif isinstance(raw, list) and isinstance(taken, list | tuple):
        for index, (value, item) in enumerate(zip(raw, taken, strict=False)):
            yield from loose_types(value, item, f"{path}.{index}")
    elif type(raw) is not type(taken) and isinstance(taken, int | bool) and not isinstance(raw, dict | list):
        yield f"{path}: is {describe(raw)}, taken as {describe(taken)}; write it so"


def first_of(sentences: Iterator[str]) -> tuple[str, ...]:
    """At most 20 of them."""
    return tuple(sentence for sentence, _ in zip(sentences, range(_MOST), strict=False))
