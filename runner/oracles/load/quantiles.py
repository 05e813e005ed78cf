"""Percentiles of a stream of durations, exact for as many as fit, and within a stated error beyond that.

Past its limit a series becomes a histogram whose bounds grow by a constant factor, so that every percentile is off by
at most ``error`` of itself: DDSketch (Masson, Rim and Lee, "DDSketch: A fast and fully-mergeable quantile sketch with
relative-error guarantees", PVLDB 12(12), 2019), with all of its bins laid out at once.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

FLOOR_MS, CEILING_MS = 1e-3, 1e9
"""Durations below the floor are one bin; above the ceiling (eleven days) there is none, so callers keep those out."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Exact for less than ``exact`` samples, then within ``error`` of the value, as a share of it."""

    exact: int
    error: float

    @property
    def log_gamma(self) -> float:
        """Logarithm of the ratio between one bin's upper bound and the next's."""
        return math.log((1 + self.error) / (1 - self.error))

    @property
    def bins(self) -> int:
        """How many bins there are between floor and ceiling."""
        return math.ceil(math.log(CEILING_MS / FLOOR_MS) / self.log_gamma) + 2


class Durations:
    """A series in milliseconds, each within [0, CEILING_MS]."""

    __slots__ = ("_bins", "_folded", "_high", "_log_gamma", "_low", "_sum", "_values", "accuracy")

    def __init__(self, accuracy: Accuracy) -> None:
        self.accuracy = accuracy
        self._values = array("d")
        self._bins: array[int] | None = None
        self._folded = 0
        self._sum, self._low, self._high = 0.0, math.inf, 0.0
        self._log_gamma = accuracy.log_gamma

    def __len__(self) -> int:
        return self._folded + len(self._values)

    @property
    def is_exact(self) -> bool:
        """Whether every sample is still there."""
        return self._bins is None

    @property
    def average(self) -> float:
        """The mean; exact, but for rounding. Zero without samples."""
        return (self._sum + math.fsum(self._values)) / len(self) if len(self) else 0.0

    @property
    def largest(self) -> float:
        """The largest sample, exactly. Zero without samples."""
        return max(self._high, max(self._values, default=0.0))

    def add(self, value: float) -> None:
        """Take one more."""
        self._values.append(value)
        if len(self._values) >= self.accuracy.exact:
            self._fold()

    def merge(self, other: Durations) -> None:
        """Take all of another series of the same accuracy."""
        if other._bins is not None:
            self._fold()
            assert self._bins is not None
            for index, count in enumerate(other._bins):
                self._bins[index] += count
            self._folded += other._folded
            self._sum += other._sum
            self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        for value in other._values:
            self.add(value)

    def quantiles(self, wanted: Sequence[float]) -> list[float]:
        """Values at these shares of the way, interpolated linearly at (n - 1) q. Raises ValueError without samples."""
        if not len(self):
            raise ValueError("no samples")
        places = [(len(self) - 1) * share for share in wanted]
        ranks = sorted({rank for place in places for rank in (math.floor(place), math.ceil(place))})
        at = dict(zip(ranks, self._at(ranks), strict=True))
        return [at[math.floor(place)] + (at[math.ceil(place)] - at[math.floor(place)]) * (place - math.floor(place))
                for place in places]

    def _at(self, ranks: Sequence[int]) -> list[float]:
        """The samples with these ranks, which ascend."""
        if self._bins is None:
            ordered = sorted(self._values)
            return [ordered[rank] for rank in ranks]
        self._fold()
        found: list[float] = []
        below = 0
        for index, count in enumerate(self._bins):
            below += count
            while len(found) < len(ranks) and ranks[len(found)] < below:
                found.append(self._middle(index))
        return found

    def _middle(self, index: int) -> float:
        """The value that no sample of the bin is further from than the error."""
        gamma = math.exp(self._log_gamma)
        value = 0.0 if index == 0 else FLOOR_MS * 2 * gamma ** index / (gamma + 1)
        return min(max(value, self._low), self._high)

    def _fold(self) -> None:
        if self._bins is None:
            self._bins = array("I", bytes(4 * self.accuracy.bins))
        if not self._values:
            return
        bins, per, floor = self._bins, self._log_gamma, math.log(FLOOR_MS)
        for value in self._values:
            bins[math.ceil((math.log(value) - floor) / per) if value > FLOOR_MS else 0] += 1
        self._sum += math.fsum(self._values)
        low, high = min(self._values), max(self._values)
        self._low, self._high = min(self._low, low), max(self._high, high)
        self._folded += len(self._values)
        self._values = array("d")
