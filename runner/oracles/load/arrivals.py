"""When journeys were to begin, and when they did.

k6's arrival-rate executors start their Nth iteration at the moment when the rate, integrated from the beginning,
reaches N (documented with ``ramping-arrival-rate``; the schedule has jumps and holds only, no ramps, and every hold
admits a whole number). So in a phase that begins at T with R a second the starts are T + 1/R, T + 2/R, …
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

from runner.load.job import Phase
from runner.oracles.load.quantiles import CEILING_MS, Accuracy, Durations

MOST_ARRIVALS = 50_000
"""How many starts are kept, eight bytes each (and for a moment four times that, to sort them)."""


def planned_arrivals(schedule: Sequence[Phase]) -> Iterator[float]:
    """Seconds from the beginning of the schedule to each start."""
    begin = 0
    for phase in schedule:
        yield from (begin + number / phase.rate for number in range(1, phase.seconds * phase.rate + 1))
        begin += phase.seconds


def first_planned(schedule: Sequence[Phase]) -> float:
    """Seconds from the beginning of the schedule to the first start."""
    return next(planned_arrivals(schedule), 0.0)


def planned_rate(schedule: Sequence[Phase], begin: float, end: float) -> float:
    """Journeys a second that the schedule asks for, on average between two of its moments."""
    area = at = 0.0
    for phase in schedule:
        area += max(0.0, min(end, at + phase.seconds) - max(begin, at)) * phase.rate
        at += phase.seconds
    return area / (end - begin)


def arrival_errors(schedule: Sequence[Phase], starts: array[float], delivered: int) -> dict[str, object] | None:
    """How far the starts are from the plan, both counted from their own first: median, p95 and the largest of the
    absolute differences in milliseconds. ``starts`` in any order; ``delivered`` is how many there were in all.

    As many starts as planned are compared one by one in their order (``matched: order``). Otherwise some are missing
    or too many and nobody knows which, so each is compared with the nearest moment of the plan (``matched: nearest``).
    """
    planned = array("d", islice(planned_arrivals(schedule), MOST_ARRIVALS))
    if not starts or not planned:
        return None
    ours, theirs = _since_first(sorted(starts)), _since_first(planned)
    in_order = len(ours) == len(theirs) == delivered
    pairs = zip(ours, theirs, strict=True) if in_order else ((start, _nearest(theirs, start)) for start in ours)
    errors = Durations(Accuracy(MOST_ARRIVALS + 1, 0.005))
    for delivered_at, planned_at in pairs:
        errors.add(min(abs(delivered_at - planned_at) * 1000, CEILING_MS))
    median, p95 = errors.quantiles((0.5, 0.95))
    return {"samples": len(errors), "p50": round(median, 3), "p95": round(p95, 3), "max": round(errors.largest, 3),
            "matched": "order" if in_order else "nearest"}


def _since_first(moments: Sequence[float]) -> array[float]:
    return array("d", (moment - moments[0] for moment in moments))


def _nearest(moments: Sequence[float], moment: float) -> float:
    place = bisect_left(moments, moment)
    around = moments[max(0, place - 1):place + 1]
    return min(around, key=lambda other: abs(other - moment))


def schedule_seconds(schedule: Sequence[Phase]) -> int:
    """How long the schedule is."""
    return sum(phase.seconds for phase in schedule)
