"""Failures of a session, each from its whole trace to the shortest; confirmed at the end by a run that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.incidents import whole_of
from runner.controller.shrinking.search import shortest
from runner.controller.shrinking.trials import Trials
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident

MAX_JOBS = 16
MAX_RUNS = 100
State = Literal["shrunk", "not_shown", "undecided", "unconfirmed"]
"""``shrunk``: the shortest shows it, in a fresh run that is kept. ``not_shown``, ``undecided``: the whole session does
not show it, or says nothing, so there is nothing to shrink. ``unconfirmed``: the shortest did not show it again."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A candidate that was played once more for its run directory; ``shown``: the failure was seen again."""

    directory: Path
    shown: bool


Keep = Callable[[Failure, Candidate], Kept]


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What became of one failure. Of ``tried`` candidates, ``cached`` needed no run."""

    identity: Identity
    state: State
    before: Candidate
    after: Candidate
    directory: Path | None = None
    tried: int = 0
    cached: int = 0


def shrink_each(incident: Incident, failures: Iterable[Failure], trials: Trials, keep: Keep) -> Iterator[Shrunk]:
    """Shrink one failure after the other; what was seen for one counts for all. Raises RunnerError."""
    for failure in failures:
        shrunk = _shrink(trials, failure, whole_of(incident), keep)
        tried, cached = trials.counts(failure.identity.id)
        yield replace(shrunk, tried=tried, cached=cached)


def _shrink(trials: Trials, failure: Failure, whole: Candidate, keep: Keep) -> Shrunk:
    wanted = failure.identity.id
    answer = trials.answer(wanted, whole)
    if answer != "shows":
        return Shrunk(failure.identity, "undecided" if answer == "undecided" else "not_shown", whole, whole)
    after = shortest(whole, _asking(trials, wanted), failure.step)
    kept = keep(failure, after)
    return Shrunk(failure.identity, "shrunk" if kept.shown else "unconfirmed", whole, after, kept.directory)


def _asking(trials: Trials, wanted: str) -> Callable[[Iterable[Candidate]], int | None]:
    return lambda candidates: trials.first(wanted, candidates)
