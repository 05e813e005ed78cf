"""Requests by operation, which is a tag that a script gives them."""

from __future__ import annotations

from typing import Any

from runner.oracles.load.overlap import Overlap
from runner.oracles.load.quantiles import Accuracy, Durations
from runner.scenarios.model import Scenario

UNTAGGED, REST = "_untagged", "_other"
"""Requests without a tag (LiteTraffic's name) · operations beyond the cap, together."""

MOST_OPERATIONS, LONGEST_NAME = 128, 200
ACCURACY = Accuracy(50_000, 0.005)
"""Percentiles are exact below 50,000 samples of a series, and within 0.5 % beyond."""


class Operation:
    """What is known of one operation. ``expected`` are the statuses that are no surprise."""

    __slots__ = ("durations", "expected", "failed", "judged", "name", "overlap", "unexpected")

    def __init__(self, name: str, expected: frozenset[str]) -> None:
        self.name, self.expected = name, expected
        self.durations, self.overlap = Durations(ACCURACY), Overlap()
        self.judged = self.failed = self.unexpected = 0

    def document(self) -> dict[str, Any]:
        """LiteTraffic's fields, and ours."""
        return {**summary(self.durations, average=False), "failed_rate": rate(self.failed, self.judged)}


class Operations:
    """All operations of a run: those the manifest knows, and others as they come, up to a cap. ``beyond`` counts
    requests of still others, which are taken together.
    """

    def __init__(self, scenario: Scenario) -> None:
        expected: dict[str, frozenset[str]] = {}
        for journey in scenario.journeys:
            for name, statuses in journey.expected_statuses.items():
                expected[name] = expected.get(name, frozenset()) | {str(status) for status in statuses}
            for name in journey.min_overlap:
                expected.setdefault(name, frozenset())
        self.expects = any(expected.values())
        self.beyond = 0
        self._known = {name: Operation(name, statuses) for name, statuses in expected.items()}
        self._room = MOST_OPERATIONS

    def get(self, tag: str | None) -> Operation:
        """The operation of a tag."""
        name = tag or UNTAGGED
        found = self._known.get(name)
        if found is not None:
            return found
        if self._room <= 0 or len(name) > LONGEST_NAME:
            name = REST
            self.beyond += 1
            if name in self._known:
                return self._known[name]
        self._room -= 1
        found = self._known[name] = Operation(name, frozenset())
        return found

    def seen(self) -> dict[str, Operation]:
        """Those that had requests, by name."""
        return {name: each for name, each in sorted(self._known.items()) if len(each.durations) or each.judged}

    def overlap(self) -> dict[str, int]:
        """The peak of open requests, for operations that had any, and those that the manifest asks about."""
        return {name: each.overlap.peak() for name, each in sorted(self._known.items())}

    def late(self) -> int:
        """Requests that came too far out of order for an exact peak."""
        return sum(each.overlap.late for each in self._known.values())

    def all_durations(self) -> Durations:
        """Of all requests together."""
        together = Durations(ACCURACY)
        for each in self._known.values():
            together.merge(each.durations)
        return together


def summary(durations: Durations, *, average: bool = True) -> dict[str, Any]:
    """Samples, percentiles and maximum in milliseconds, three decimals; without samples only their number."""
    if not len(durations):
        return {"samples": 0}
    p50, p95, p99 = durations.quantiles((0.5, 0.95, 0.99))
    middle = {"average": round(durations.average, 3)} if average else {}
    return {"samples": len(durations), **middle, "p50": round(p50, 3), "p95": round(p95, 3), "p99": round(p99, 3),
            "max": round(durations.largest, 3)}


def rate(part: int, whole: int) -> float | None:
    """A share with six decimals, ``None`` of nothing."""
    return round(part / whole, 6) if whole else None
