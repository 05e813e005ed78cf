"""The order in which parts and values are tried, until none can be left out or made smaller."""

from __future__ import annotations

from collections.abc import Iterable

from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.ddmin import First, ddmin
from runner.controller.shrinking.parts import Part, keep, parts_of
from runner.controller.shrinking.values import fewer_clicks, fewer_lanes, loosened, shorter_input


def shortest(candidate: Candidate, first: First[Candidate], failing_step: int | None = None) -> Candidate:
    """The shortest candidate that ``first`` finds to show the failure; ``candidate`` is taken to show it.

    In the end no step, fault, click, lane or last character can be left out alone. ``failing_step`` is the step at
    which the failure was recorded: what came later is left out first, and what came before with it if that holds.
    """
    candidate = _up_to(loosened(candidate, first), failing_step, first)
    granularity = 2
    while True:
        before = candidate
        candidate = _fewer_parts(candidate, first, granularity)
        for reduced in (fewer_clicks, shorter_input, fewer_lanes):
            candidate = reduced(candidate, first)
        if candidate == before:
            return candidate
        granularity = max(len(parts_of(candidate)), 1)  # from now on it is asked whether there is one too many


def _fewer_parts(candidate: Candidate, first: First[Candidate], granularity: int) -> Candidate:
    def first_parts(tries: Iterable[tuple[Part, ...]]) -> int | None:
        return first(keep(candidate, parts) for parts in tries)

    return keep(candidate, ddmin(parts_of(candidate), first_parts, granularity))


def _up_to(candidate: Candidate, step: int | None, first: First[Candidate]) -> Candidate:
    """The failing step alone, or all before it too, where that still shows the failure."""
    if step is None or not 0 <= step < len(candidate.trace):
        return candidate
    parts = parts_of(candidate)
    tries = [[part for part in parts if part.step is None or part.step == step],
             [part for part in parts if part.step is None or part.step <= step]]
    found = first(keep(candidate, kept) for kept in tries)
    return candidate if found is None else keep(candidate, tries[found])
