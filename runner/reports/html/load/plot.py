"""Plots as values: where each line, tick and word goes. A template draws them as SVG.

A plot has an area of SIZE by SIZE units that is stretched to whatever width the page has; words and grid lines are
placed in percent of it and are not stretched. All numbers are made here, none is a stranger's text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

SIZE = 1000
_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400)
_STEPS = (1, 2, 2.5, 5, 10)
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line with its word. ``at`` is a percentage from the left, or from the top."""

    at: str
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One series. ``kind`` is a class of the style sheet; ``area`` is the path of what lies below, or empty."""

    kind: str
    name: str
    path: str
    area: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot. ``number`` makes its anchors, ``summary`` says what it shows, ``unit`` what its y axis counts."""

    number: int
    title: str
    summary: str
    unit: str
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to units of the area: ``low`` is at 0, ``high`` at SIZE; beyond them it is cut."""

    low: float
    high: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(SIZE * min(1.0, max(0.0, share)), 1)


@dataclass(frozen=True, slots=True)
class Axes:
    """Time across in equal steps, values up from 0."""

    start: float
    width: float
    steps: int
    top: float

    @property
    def across(self) -> Scale:
        """Seconds from left to right."""
        return Scale(self.start, self.start + self.steps * self.width)

    def x(self, place: float) -> float:
        """Where a step begins; a half is its middle."""
        return self.across(self.start + place * self.width)

    def y(self, value: float) -> float:
        """From the top, as SVG counts."""
        return round(SIZE - Scale(0.0, self.top)(value), 1)

    def stairs(self, values: Sequence[float | None]) -> str:
        """A level for each step, with a gap where there is no value."""
        return " ".join(part for begin, run in runs(values) for part in self._stairs(begin, run))

    def _stairs(self, begin: int, run: Sequence[float]) -> Iterator[str]:
        for offset, value in enumerate(run):
            if offset == 0:
                yield f"M{self.x(begin):g} {self.y(value):g}"
            elif value != run[offset - 1]:
                yield f"H{self.x(begin + offset):g}V{self.y(value):g}"
        yield f"H{self.x(begin + len(run)):g}"

    def below(self, values: Sequence[float | None]) -> str:
        """The area below :meth:`stairs`."""
        return " ".join(f"M{self.x(begin):g} {SIZE}V{self.y(run[0]):g}"
                        f"{''.join(list(self._stairs(begin, run))[1:])}V{SIZE}Z" for begin, run in runs(values))

    def through(self, values: Sequence[float | None]) -> str:
        """A line through the middles of the steps, with a gap where there is no value; a lone value is a dot."""
        return " ".join(self._through(begin, run) for begin, run in runs(values))

    def _through(self, begin: int, run: Sequence[float]) -> str:
        points = [f"{self.x(begin + offset + 0.5):g} {self.y(value):g}" for offset, value in enumerate(run)]
        return f"M{points[0]}h.1" if len(points) == 1 else f"M{points[0]}L{' '.join(points[1:])}"

    def times(self) -> tuple[Tick, ...]:
        """At most seven moments."""
        end = self.start + self.steps * self.width
        step = next((one for one in _SECONDS if (end - self.start) / one <= 6), (end - self.start) / 6)
        first, last = math.ceil(self.start / step - 1e-9), math.floor(end / step + 1e-9)
        return tuple(Tick(percent(self.across(number * step)), clock(number * step, step))
                     for number in range(first, last + 1))

    def levels(self) -> tuple[Tick, ...]:
        """The grid of the y axis, from 0 to the top."""
        step = level_step(self.top)
        return tuple(Tick(percent(self.y(number * step)), amount(number * step))
                     for number in range(round(self.top / step) + 1))


def axes_for(start: float, width: float, *series: Sequence[float | None]) -> Axes:
    """Axes that hold all of the series, which are equally long."""
    return Axes(start, width, len(series[0]), nice_top(largest(value for values in series for value in values)))


def nice_top(value: float) -> float:
    """A round number that is not less than the value; 1 if there is nothing to see."""
    if value < _LEAST:
        return 1.0
    step = level_step(value)
    return step * math.ceil(value / step - 1e-9)


def level_step(top: float) -> float:
    """A round step of which at most five reach the top."""
    power = 10.0 ** math.floor(math.log10(top / 5))
    return next(power * factor for factor in _STEPS if top / (power * factor) <= 5 + 1e-9)


def runs(values: Sequence[float | None]) -> Iterator[tuple[int, list[float]]]:
    """Stretches without a gap, and where each begins."""
    run: list[float] = []
    for place, value in enumerate((*values, None)):
        if value is not None:
            run.append(value)
        elif run:
            yield place - len(run), run
            run = []


def largest(values: Iterable[float | None]) -> float:
    """The largest of what is there, or 0."""
    return max((value for value in values if value is not None), default=0.0)


def percent(units: float) -> str:
    """Units of the area as a percentage."""
    return f"{units * 100 / SIZE:g}%"


def clock(seconds: float, step: float) -> str:
    """``2.5 s``, ``40 s``, ``1:30``, ``2:00:00``."""
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    if step < 15 and seconds < 120:
        return f"{sign}{seconds:g} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02}:{rest:02}" if hours else f"{sign}{minutes}:{rest:02}"


def amount(value: float) -> str:
    """``0.25``, ``12``, ``1,500``, ``3M``."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:,.4g}M"
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"
