"""What all commands on the store share: opening it, and its clocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from runner.errors import UsageError, printable
from runner.evidence.database import HINT, is_store, store_root
from runner.evidence.index import Index

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


@contextmanager
def opened_store() -> Iterator[Index | None]:
    """The index, with what dead controllers left settled; ``None`` when there is no store. Raises RunnerError."""
    root = store_root()
    if not is_store(root):
        yield None
        return
    with Index(root) as index:
        if index.has_unsettled():
            from runner.evidence.recovery import reconcile  # start-up time: only after a kill
            from runner.evidence.removal import finish_removals

            reconcile(index)
            finish_removals(index)
        yield index


def needed_store(index: Index | None) -> Index:
    """Raises UsageError when there is no store."""
    if index is None:
        raise UsageError(f"there is no store at {printable(str(store_root()))}", hint=f"replay something, or {HINT}")
    return index


def moment_before(text: str) -> str:
    """A date, a time (both UTC), or an age such as ``7d``, as the store writes times. Raises UsageError."""
    import datetime as dt  # start-up time: only with --since or --older-than

    try:
        age = re.fullmatch(r"(\d{1,6})([smhdw])", text)
        if age:
            seconds = int(age[1]) * _UNITS[age[2]]
            when = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)
        else:
            when = dt.datetime.fromisoformat(text)
            when = when.replace(tzinfo=when.tzinfo or dt.UTC).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{printable(text)[:80]}: neither a date such as 2026-11-30 nor an age such as 7d") from None
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
