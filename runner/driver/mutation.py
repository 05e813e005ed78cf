"""Damage to JSON values, drawn from a seeded generator: what a broken service might send or a browser might store."""

from __future__ import annotations

import random
from typing import Any

MAX_FILLER = 2000
_EMPTY_MARK = "_injected"


def corrupt(rng: random.Random, value: Any) -> Any:
    """The value with about three of five members nulled, given another type, or damaged inside; never as it was."""
    if isinstance(value, dict):
        damaged = {name: _damage(rng, value[name]) for name in sorted(value)}
        if damaged != value:
            return damaged
        return {**damaged, rng.choice(sorted(value)): None, _EMPTY_MARK: True} if value else {_EMPTY_MARK: True}
    if isinstance(value, list) and value:
        damaged_items = [_damage(rng, item) for item in value]
        return damaged_items if damaged_items != value else []
    return other_type(value)


def strip(rng: random.Random, value: Any) -> tuple[Any, tuple[str, ...]]:
    """The value without one or two of its keys, and their names; a list comes back empty, anything else as null."""
    if isinstance(value, dict) and value:
        dropped = tuple(sorted(rng.sample(sorted(value), min(len(value), rng.randint(1, 2)))))
        return {name: kept for name, kept in value.items() if name not in dropped}, dropped
    return ([] if isinstance(value, list) and value else None), ()


def other_type(value: Any) -> Any:
    """A value of another type than this one's, of the kind that programs trip over."""
    match value:
        case bool():
            return str(value)
        case int() | float():
            return "NaN"
        case str():
            return "X" * min(MAX_FILLER, max(1, len(value)) * 100)
        case list():
            return {} if not value else []
        case None:
            return {_EMPTY_MARK: True}
        case _:
            return None


def _damage(rng: random.Random, value: Any) -> Any:
    roll = rng.random()
    if roll < 0.2:
        return None
    if roll < 0.4:
        return other_type(value)
    if roll < 0.6 and isinstance(value, dict | list):
        return corrupt(rng, value)
    return value
