"""Smaller values within the steps that are needed: fewer clicks, shorter input, fewer lanes; and looser faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from runner.browser.trace import Click, Fill, Step
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.ddmin import First

LEAST_LANES = 2


def smaller(number: int, least: int) -> list[int]:
    """Numbers to try instead, the greatest step down first: the least, then half of the way to it, a quarter, … one."""
    way = number - least
    tries = [least]
    while way > 1:
        way //= 2
        tries.append(number - way)
    return tries


def lessen(number: int, least: int, built: Callable[[int], Candidate], first: First[Candidate]) -> int:
    """The smallest number that still shows the failure, as far as single steps down tell."""
    while number > least:
        tries = smaller(number, least)
        found = first(built(other) for other in tries)
        if found is None:
            break
        number = tries[found]
    return number


def fewer_clicks(candidate: Candidate, first: First[Candidate]) -> Candidate:
    """Each step's clicks, one step after the other."""
    for index, step in enumerate(candidate.trace):
        if isinstance(step, Click):
            least = lessen(step.repeat, 1, _clicking(candidate, index, step), first)
            candidate = _clicking(candidate, index, step)(least)
    return candidate


def _clicking(candidate: Candidate, index: int, step: Click) -> Callable[[int], Candidate]:
    return lambda repeat: _with_step(candidate, index, replace(step, repeat=repeat))


def shorter_input(candidate: Candidate, first: First[Candidate]) -> Candidate:
    """Each input that is filled in, as its shortest beginning."""
    for index, step in enumerate(candidate.trace):
        if isinstance(step, Fill):
            least = lessen(len(step.value), 0, _filling(candidate, index, step), first)
            candidate = _filling(candidate, index, step)(least)
    return candidate


def _filling(candidate: Candidate, index: int, step: Fill) -> Callable[[int], Candidate]:
    return lambda length: _with_step(candidate, index, replace(step, value=step.value[:length]))


def _with_step(candidate: Candidate, index: int, step: Step) -> Candidate:
    return replace(candidate, trace=(*candidate.trace[:index], step, *candidate.trace[index + 1:]))


def fewer_lanes(candidate: Candidate, first: First[Candidate]) -> Candidate:
    """A race needs two."""
    if candidate.lanes <= LEAST_LANES:
        return candidate
    return replace(candidate, lanes=lessen(candidate.lanes, LEAST_LANES,
                                           lambda lanes: replace(candidate, lanes=lanes), first))


def loosened(candidate: Candidate, first: First[Candidate]) -> Candidate:
    """Faults that wait for a step instead of a counted request, all of them or one by one.

    A fault of the fifth request would hold on to the steps that make the first four. What stays a count shows the
    failure as a count only.
    """
    while True:
        counted = [at for at, fault in enumerate(candidate.api_faults) if fault.occurrence > 0]
        tries = [counted, *([at] for at in counted if len(counted) > 1)] if counted else []
        found = first(_loose(candidate, chosen) for chosen in tries)
        if found is None:
            return candidate
        candidate = _loose(candidate, tries[found])


def _loose(candidate: Candidate, chosen: list[int]) -> Candidate:
    faults = (replace(fault, occurrence=0, from_step=fault.step) if at in chosen else fault
              for at, fault in enumerate(candidate.api_faults))
    return replace(candidate, api_faults=tuple(faults))
