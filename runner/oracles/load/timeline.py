"""What a run did over time, in at most BUCKETS equal steps: what the report's plots draw.

The width of a step follows from how long the scenario may take, before anything is seen. The first sample to come is
rarely the first to have begun, so some steps are kept for what began before it; times are given relative to the first
arrival, when that is known. What lies outside of all steps is counted, and left out.
"""

from __future__ import annotations

import math
from array import array
from typing import Any

from runner.oracles.load.arrivals import first_planned, planned_rate, schedule_seconds
from runner.oracles.load.operations import REST, Operation
from runner.oracles.load.quantiles import Accuracy, Durations
from runner.scenarios.model import Scenario

BUCKETS, _BEFORE, _WISHED = 600, 100, 400
_AHEAD = 0.02
"""By how much of a step the first arrival may lie before the first request and still begin the same step."""
_WIDTHS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600)
SHOWN = 8
"""Operations that have lines of their own; the others are drawn together."""
_FOLLOWED = 16
ACCURACY = Accuracy(200, 0.02)
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Spans:
    """Starts of intervals, and how long they were open in each step."""

    __slots__ = ("_covered", "_open", "started", "width")

    def __init__(self, width: float) -> None:
        self.width = width
        self.started = array("q", bytes(8 * BUCKETS))
        self._open = array("d", bytes(8 * (BUCKETS + 1)))
        self._covered = array("q", bytes(8 * (BUCKETS + 1)))

    def add(self, start: float, end: float) -> None:
        """Seconds, both within the steps."""
        width = self.width
        first, last = int(start / width), int(end / width)
        self.started[first] += 1
        if first == last:
            self._open[first] += end - start
        else:
            self._open[first] += (first + 1) * width - start
            self._open[last] += end - last * width
            self._covered[first + 1] += 1
            self._covered[last] -= 1

    def mean_open(self) -> list[float]:
        """How many were open in each step, on average over the step."""
        whole, result = 0, []
        for index in range(BUCKETS):
            whole += self._covered[index]
            result.append(round(whole + self._open[index] / self.width, 3))
        return result


class Timeline:
    """Takes samples as they come. Times in are seconds of one clock, any."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        length = max(scenario.engine_seconds, schedule_seconds(scenario.schedule))
        self.width = float(next((width for width in _WIDTHS if length <= width * _WISHED),
                                math.ceil(length / _WISHED)))
        self.outside = 0
        self._zero: float | None = None
        self._requests, self._iterations = Spans(self.width), Spans(self.width)
        self._failures = array("q", bytes(8 * BUCKETS))
        self._cells: dict[str, list[Durations | None]] = {REST: [None] * BUCKETS}

    def request(self, operation: Operation, start: float, end: float, duration: float) -> None:
        """A request, with its duration in milliseconds."""
        begun, ended = self._within(start), self._within(end)
        if begun is None or ended is None:
            self.outside += 1
            return
        self._requests.add(begun, ended)
        cells = self._cells.get(operation.name)
        if cells is None:
            cells = self._cells[REST]
            if len(self._cells) <= _FOLLOWED:
                cells = self._cells[operation.name] = [None] * BUCKETS
        index = int(begun / self.width)
        cell = cells[index]
        if cell is None:
            cell = cells[index] = Durations(ACCURACY)
        cell.add(duration)

    def iteration(self, start: float, end: float) -> None:
        """A journey."""
        begun, ended = self._within(start), self._within(end)
        if begun is None or ended is None:
            self.outside += 1
        else:
            self._iterations.add(begun, ended)

    def failure(self, moment: float) -> None:
        """A request that k6 calls failed."""
        at = self._within(moment)
        if at is not None:
            self._failures[int(at / self.width)] += 1

    def document(self, first_arrival: float | None) -> dict[str, Any]:
        """Lists with one number for each step, from the first step with anything planned or seen to the last.

        ``requests`` and ``iterations`` count what began in a step, ``failures`` what failed in it; ``in_flight`` are
        open journeys and ``open_requests`` open requests, both on average; ``planned`` is a rate (journeys a second).
        ``operations`` have percentiles in milliseconds, ``null`` for a step without a sample, by when requests began.
        ``start_seconds`` is where the first step begins, counted from the first arrival.
        """
        zero = self._zero
        origin = 0.0 if zero is None or first_arrival is None else first_arrival - zero
        planned = self._planned(origin)
        in_flight, open_requests = self._iterations.mean_open(), self._requests.mean_open()
        used = [index for index, found in enumerate(zip(
            planned, self._requests.started, self._iterations.started, self._failures, in_flight, open_requests,
            strict=True)) if any(found)]
        steps = slice(min(used, default=0), max(used, default=-1) + 1)
        return {
            "bucket_seconds": self.width, "start_seconds": round(steps.start * self.width - origin, 3),
            "requests": self._requests.started[steps].tolist(),
            "iterations": self._iterations.started[steps].tolist(),
            "failures": self._failures[steps].tolist(), "planned": planned[steps],
            "in_flight": in_flight[steps], "open_requests": open_requests[steps],
            "operations": {name: _percentiles(cells[steps]) for name, cells in self._shown().items()},
            "outside": self.outside,
        }

    def _within(self, moment: float) -> float | None:
        if self._zero is None:
            self._zero = moment - (_BEFORE + _AHEAD) * self.width
        since = moment - self._zero
        return since if 0 <= since < BUCKETS * self.width else None

    def _planned(self, origin: float) -> list[float]:
        if self._zero is None:
            return [0.0] * BUCKETS
        offset = first_planned(self._scenario.schedule) - origin
        return [round(planned_rate(self._scenario.schedule, index * self.width + offset,
                                   (index + 1) * self.width + offset), 3) for index in range(BUCKETS)]

    def _shown(self) -> dict[str, list[Durations | None]]:
        """The busiest operations, busiest first, and the rest together."""
        sizes = {name: sum(len(cell) for cell in cells if cell is not None)
                 for name, cells in self._cells.items() if name != REST}
        order = sorted(sizes, key=lambda name: (-sizes[name], name))
        shown = {name: self._cells[name] for name in order[:SHOWN]}
        rest = self._cells[REST]
        for name in order[SHOWN:]:
            for index, cell in enumerate(self._cells[name]):
                if cell is not None:
                    rest[index] = _joined(rest[index], cell)
        return {**shown, REST: rest} if any(rest) else shown


def _joined(one: Durations | None, other: Durations) -> Durations:
    if one is None:
        return other
    one.merge(other)
    return one


def _percentiles(cells: list[Durations | None]) -> dict[str, list[float | None]]:
    rows = [cell.quantiles(tuple(_SHARES.values())) if cell is not None else None for cell in cells]
    return {name: [round(row[place], 3) if row is not None else None for row in rows]
            for place, name in enumerate(_SHARES)}
