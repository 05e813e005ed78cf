"""The plots of a load run over time, and their numbers as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.evidence.load_record import LoadRecord
from runner.reports.html.load.plot import Axes, Line, Plot, amount, axes_for, clock, largest
from runner.reports.html.load.timeline import Timeline, Values
from runner.reports.html.load.values import UNKNOWN, at, milliseconds
from runner.reports.html.session.view import Grid
from runner.reports.html.words import count

_PERCENTILES = ("p50", "p95", "p99")
_MOST_ROWS, _MOST_DRAWN = 60, 200
"""Rows of a table, and steps of a stair: with more of them a line is a blot."""
_REACH = 3
"""An allowance is drawn only if it is at most so many times the largest value, else it would flatten the line."""


def load_plots(timeline: Timeline, load: LoadRecord, peak: float | None) -> tuple[Plot, ...]:
    """What was sent: journeys against the schedule, journeys in flight, requests and failed ones. ``peak`` is how many
    journeys were open at once.
    """
    drawn = timeline.folded(_MOST_DRAWN)
    return (_journeys(timeline, drawn), _in_flight(drawn, load.budgets.get("max_in_flight"), peak),
            _requests(timeline, drawn))


def busiest(timeline: Timeline, metrics: Mapping[str, Any]) -> tuple[str, ...]:
    """Operations by their requests, the busiest first."""
    samples = {name: at(metrics, "by_operation", name, "samples") or 0.0 for name in timeline.operations}
    return tuple(sorted(samples, key=lambda name: (-samples[name], name)))


def latency_plots(timeline: Timeline, names: Sequence[str], first: int) -> tuple[Plot, ...]:
    """Percentiles of operations; ``first`` is the number of the first plot."""
    return tuple(_latency(timeline, name, number) for number, name in enumerate(names, first))


def _journeys(timeline: Timeline, drawn: Timeline) -> Plot:
    started = drawn.rate(drawn.iterations)
    axes = axes_for(drawn.start, drawn.width, drawn.planned, started)
    lines = (Line("s1", "started", axes.stairs(started), axes.below(started)),
             Line("plan", "planned", axes.stairs(drawn.planned)))
    return _plot(1, "Journeys against the schedule", f"Planned: at most {_rate(drawn.planned)} a second. "
                 f"Started: {amount(_sum(timeline.iterations))}, at most {_rate(started)} a second, in steps of "
                 f"{drawn.width:g} s.", "journeys a second", axes, lines)


def _in_flight(timeline: Timeline, allowed: int | None, peak: float | None) -> Plot:
    most = largest(timeline.in_flight)
    drawn = allowed is not None and 0 < allowed <= max(1.0, most) * _REACH
    level: Values = (float(allowed),) * len(timeline.in_flight) if allowed is not None and drawn else ()
    axes = axes_for(timeline.start, timeline.width, timeline.in_flight, level)
    lines = [Line("s2", "in flight", axes.stairs(timeline.in_flight), axes.below(timeline.in_flight))]
    lines += [Line("plan", "allowed", axes.stairs(level))] if level else []
    told = [f"On average over a step, at most {amount(round(most, 1))} at once"]
    told += [f"peak {amount(peak)}"] if peak is not None else []
    told += [f"allowed {amount(allowed)}"] if allowed is not None else []
    return _plot(2, "Journeys in flight", f"{'; '.join(told)}.", "open journeys", axes, lines)


def _requests(timeline: Timeline, drawn: Timeline) -> Plot:
    requests, failed = drawn.rate(drawn.requests), drawn.rate(drawn.failures)
    axes = axes_for(drawn.start, drawn.width, requests, failed)
    lines = [Line("s1", "sent", axes.stairs(requests), axes.below(requests))]
    # Steps without a failure are gaps: a red line along the bottom would read as if something had failed.
    bad = tuple(rate or None for rate in failed)
    lines += [Line("lost", "failed", axes.stairs(bad), axes.below(bad))] if any(bad) else []
    return _plot(3, "Requests and failed requests", f"{amount(_sum(timeline.requests))} requests, at most "
                 f"{_rate(requests)} a second; {amount(_sum(timeline.failures))} failed, as k6 counts: any "
                 "status of 400 or more, and no answer. A request counts when it began, a failure when it ended.",
                 "requests a second", axes, lines)


def _latency(timeline: Timeline, name: str, number: int) -> Plot:
    rows = timeline.operations[name]
    axes = axes_for(timeline.start, timeline.width, *(rows[share] for share in _PERCENTILES))
    lines = [Line(f"s{place}", share, axes.through(rows[share])) for place, share in enumerate(_PERCENTILES, 1)]
    worst = ", ".join(f"{share} {milliseconds(largest(rows[share]))}" for share in _PERCENTILES)
    return _plot(number, f"Latency of {name}", f"The slowest step: {worst}.", "milliseconds", axes, lines)


def _rate(values: Values) -> str:
    return amount(round(largest(values), 1))


def _plot(number: int, title: str, summary: str, unit: str, axes: Axes, lines: Sequence[Line]) -> Plot:
    return Plot(number, title, summary, unit, axes.times(), axes.levels(), tuple(lines))


def load_numbers(timeline: Timeline) -> Grid:
    """The same in figures, in at most 60 rows; what a row covers is drawn together."""
    columns = ("From", "Planned / s", "Started / s", "In flight", "Requests / s", "Failed / s")
    each = (timeline.planned, timeline.rate(timeline.iterations), timeline.in_flight, timeline.rate(timeline.requests),
            timeline.rate(timeline.failures))
    rows = tuple((_when(timeline, part.start), *(_mean(values[part]) for values in each))
                 for part in _parts(len(timeline.planned)))
    return Grid(f"Averages over {_covers(timeline)}, since the first journey began", columns, rows)


def latency_numbers(timeline: Timeline, names: Sequence[str]) -> Grid:
    """Percentiles in figures: of each operation the highest p95 of the steps that a row covers."""
    rows = tuple((_when(timeline, part.start), *(_highest(timeline.operations[name]["p95"][part]) for name in names))
                 for part in _parts(len(timeline.planned)))
    return Grid(f"p95 in milliseconds; of {_covers(timeline)} the highest", ("From", *names), rows)


def _parts(steps: int) -> Iterator[slice]:
    size = -(-steps // _MOST_ROWS)
    return (slice(begin, begin + size) for begin in range(0, steps, size))


def _covers(timeline: Timeline) -> str:
    steps = -(-len(timeline.planned) // _MOST_ROWS)
    return f"{count(steps, 'step')} of {timeline.width:g} s"


def _when(timeline: Timeline, step: int) -> str:
    return clock(round(timeline.start + step * timeline.width, 3), timeline.width)


def _mean(values: Values) -> str:
    return amount(round(_sum(values) / len(values), 2))


def _highest(values: Values) -> str:
    return amount(largest(values)) if any(value is not None for value in values) else UNKNOWN


def _sum(values: Values) -> float:
    return sum(value for value in values if value is not None)
