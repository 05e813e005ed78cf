"""``timeline.json`` of a run directory, read as a stranger's: what is not of its shape is not there."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

from runner.errors import ReportError
from runner.sources.jsontext import parse_json

TIMELINE_FILE = "timeline.json"
MAX_BYTES = 8 << 20
_MOST_STEPS, _MOST_OPERATIONS = 1000, 32
_LONGEST_STEP, _FURTHEST, _LARGEST = 86_400.0, 1e8, 1e12
"""Seconds, seconds, and whatever a value counts. Far beyond any run; they keep coordinates sane."""
_PERCENTILES = ("p50", "p95", "p99")

Values = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Equal steps of ``width`` seconds; the first begins ``start`` seconds after the first journey did.

    ``iterations``, ``requests`` and ``failures`` count what began (or failed) in a step, ``planned`` is a rate,
    ``in_flight`` are open journeys on average. ``operations`` have their percentiles in milliseconds, ``None`` for a
    step without a sample.
    """

    width: float
    start: float
    planned: Values
    iterations: Values
    requests: Values
    failures: Values
    in_flight: Values
    operations: dict[str, dict[str, Values]]

    def rate(self, counts: Values) -> Values:
        """Counts as so many a second."""
        return tuple(None if count is None else count / self.width for count in counts)

    def folded(self, most: int) -> Timeline:
        """The same in at most so many steps, each the mean of its neighbours; without operations, whose percentiles
        have no mean.
        """
        size = -(-len(self.planned) // most)
        if size == 1:
            return replace(self, operations={})
        fold = partial(_folded, size=size)
        return Timeline(self.width * size, self.start, fold(self.planned), fold(self.iterations, weight=size),
                        fold(self.requests, weight=size), fold(self.failures, weight=size), fold(self.in_flight), {})


def _folded(values: Values, *, size: int, weight: int = 1) -> Values:
    """Means of so many neighbours; a count has the weight of the steps that it stands for."""
    parts = (values[begin:begin + size] for begin in range(0, len(values), size))
    return tuple(weight * sum(value or 0.0 for value in part) / len(part) for part in parts)


def read_timeline(raw: bytes) -> Timeline | None:
    """The timeline; ``None`` if there is none, it has no steps, or anything about it is odd."""
    try:
        document = parse_json(raw).value if 0 < len(raw) <= MAX_BYTES else None
        return _timeline(document) if isinstance(document, dict) else None
    except (ReportError, RecursionError, ValueError):
        return None


def _timeline(document: dict[str, object]) -> Timeline:
    planned = _values(document.get("planned"))
    steps = len(planned)
    if not steps:
        raise ValueError("no steps")
    width = _number(document.get("bucket_seconds"), 0.0, _LONGEST_STEP)
    if width < 0.001:
        raise ValueError("no width")
    iterations, requests, failures, in_flight = (
        _values(document.get(name), steps) for name in ("iterations", "requests", "failures", "in_flight"))
    operations = document.get("operations", {})
    if not isinstance(operations, dict) or len(operations) > _MOST_OPERATIONS:
        raise ValueError("operations")
    return Timeline(width, _number(document.get("start_seconds", 0), -_FURTHEST, _FURTHEST), planned, iterations,
                    requests, failures, in_flight,
                    {name: _operation(rows, steps) for name, rows in operations.items()})


def _operation(rows: object, steps: int) -> dict[str, Values]:
    if not isinstance(rows, dict):
        raise ValueError("an operation")  # noqa: TRY004 - all that is odd is one error here
    return {name: _values(rows.get(name), steps, gaps=True) for name in _PERCENTILES}


def _values(found: object, steps: int | None = None, *, gaps: bool = False) -> Values:
    if not isinstance(found, list) or len(found) > _MOST_STEPS or steps not in (None, len(found)):
        raise ValueError("no list of steps")
    return tuple(None if gaps and value is None else _number(value, 0.0, _LARGEST) for value in found)


def _number(value: object, least: float, most: float) -> float:
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
        raise ValueError("no number")
    number = float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else 0.0
