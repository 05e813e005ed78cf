"""Choosing what a chaos session does to a page's state: one wave of faults, drawn from the session's seed.

Kinds and odds are those of LOKI 1.11: each stored key with one chance in two and at least one of them, or a key that
applications often use where there is none; then the clock; then the quota; at the very end a reload on all of that.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from typing import Any, Literal

from runner.browser.faults import StateFault, StateFaultType
from runner.driver.mutation import other_type

Area = Literal["localStorage", "sessionStorage"]
STORAGE_FAULTS: tuple[StateFaultType, ...] = ("truncated_json", "invalid_literal", "schema_rot", "type_swap")
SYNTHETIC_KEYS = ("app_state", "user", "cart", "settings", "persist:root")
LITERALS = ("undefined", "null", "NaN", "[object Object]", "")
DRIFTS_SECONDS = (3600, 7200, 86400)
MAX_KEYS = 50
_PREVIEW = 120
_ROTTEN, _BROKEN_OFF = '{"state": null, "version": -1}', '{"state": {"items": ['


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What an origin has stored. Values may be cut."""

    local: dict[str, str] = field(default_factory=dict)
    session: dict[str, str] = field(default_factory=dict)


def plan(rng: random.Random, snapshot: Snapshot) -> list[StateFault]:
    """The faults of one wave, in the order in which they are to be carried out: storage first, because nothing can be
    stored once the quota is exceeded. The last, ``poisoned_reload``, is for the end of the session.
    """
    seconds = rng.choice(DRIFTS_SECONDS)
    return [
        *_storage(rng, snapshot),
        StateFault("clock_drift", "clock", "Date.now", f"+{seconds}s", seconds * 1000,
                   details=f"the clock goes {seconds} s fast"),
        StateFault("quota_exceeded", "Storage", "Storage.prototype.setItem", "QuotaExceededError",
                   details="setItem throws"),
        StateFault("poisoned_reload", "lifecycle", "window.location.reload", details="reload on what is stored"),
    ]


def _storage(rng: random.Random, snapshot: Snapshot) -> list[StateFault]:
    if not snapshot.local:
        key = rng.choice(SYNTHETIC_KEYS)
        return [_fault(rng, "localStorage", key, None), *_chosen(rng, "sessionStorage", snapshot.session)]
    faults = _chosen(rng, "localStorage", snapshot.local) + _chosen(rng, "sessionStorage", snapshot.session)
    if faults:
        return faults
    key = rng.choice(sorted(snapshot.local)[:MAX_KEYS])
    return [_fault(rng, "localStorage", key, snapshot.local[key])]


def _chosen(rng: random.Random, area: Area, stored: dict[str, str]) -> list[StateFault]:
    """Keys in their own order, because a browser's is not always the same."""
    return [_fault(rng, area, key, stored[key]) for key in sorted(stored)[:MAX_KEYS] if rng.random() < 0.5]


def _fault(rng: random.Random, area: Area, key: str, original: str | None) -> StateFault:
    kind = rng.choice(STORAGE_FAULTS)
    value, details = _DAMAGE[kind](rng, original)
    return StateFault(kind, area, key, value, original_value=None if original is None else original[:_PREVIEW],
                      details=details if original is not None else f"{details}, under a key that was not there")


def _truncated(rng: random.Random, original: str | None) -> tuple[str, str]:
    if original is not None and len(original) > 1:
        cut = original[:rng.randint(1, len(original) - 1)]
        if _parsed(cut) is None:
            return cut, f"cut after {len(cut)} of {len(original)} characters"
    return _BROKEN_OFF, "JSON that breaks off"


def _literal(rng: random.Random, _: str | None) -> tuple[str, str]:
    value = rng.choice(LITERALS)
    return value, f"the literal {value!r}"


def _rotten(rng: random.Random, original: str | None) -> tuple[str, str]:
    """An older or newer program's idea of the value: keys gone, the others of another type."""
    value = _parsed(original or "")
    if not isinstance(value, dict) or not value:
        return _ROTTEN, "an envelope without state"
    gone = sorted(rng.sample(sorted(value), rng.randint(1, len(value))))
    left = {name: other_type(value[name]) for name in sorted(value) if name not in gone}
    return json.dumps(left), f"without {len(gone)} of {len(value)} keys, the others of another type"


def _swapped(rng: random.Random, original: str | None) -> tuple[str, str]:
    values = [value for value in ("0", "true", '"text"', "[]", "{}") if value != original]
    value = rng.choice(values)
    return value, f"JSON {value} in its place"


_DAMAGE = {"truncated_json": _truncated, "invalid_literal": _literal, "schema_rot": _rotten, "type_swap": _swapped}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
