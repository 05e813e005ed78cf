"""Interleaved timing: ours, theirs, ours, theirs, so that a machine's mood hits both alike."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ratio:
    """Ours divided by theirs, both as medians of seconds. ``must`` is the bound, ``aim`` the wish."""

    name: str
    ours: float
    theirs: float
    must: float
    aim: float | None
    runs: int

    @property
    def ratio(self) -> float:
        """Below 1: ours is faster."""
        return self.ours / self.theirs

    @property
    def holds(self) -> bool:
        """Whether the bound is met."""
        return self.ratio <= self.must


def timed(action: Callable[[], object]) -> float:
    """Seconds of wall time."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], *, must: float,
            aim: float | None = None, runs: int = 5, per: int = 1, per_theirs: int = 1) -> Ratio:
    """One warm-up of each, then pairs. ``per``: how many units of work one call does."""
    ours()
    theirs()
    pairs = [(timed(ours), timed(theirs)) for _ in range(runs)]
    return Ratio(name, statistics.median(mine for mine, _ in pairs) / per,
                 statistics.median(other for _, other in pairs) / per_theirs, must, aim, runs)


def compiled(folder: Path) -> dict[str, str]:
    """An environment in which our program is as an installation leaves it: compiled, whatever this shell says of
    bytecode.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
