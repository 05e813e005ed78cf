"""Failures of a session, each from its whole trace to the shortest; confirmed at the end by a run of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.incidents import whole_of
from runner.controller.shrinking.journal import Journal
from runner.controller.shrinking.search import shortest
from runner.controller.shrinking.trials import Player, Trials, Tried, Watch
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, Incident

MAX_JOBS = 16
MAX_RUNS = 100
State = Literal["shrunk", "not_shown", "undecided", "unconfirmed"]
"""``shrunk``: the shortest shows it, in a fresh run. ``not_shown``, ``undecided``: the whole session does not show it,
or says nothing, so there is nothing to shrink. ``unconfirmed``: the shortest did not show it again."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What became of one failure. Of ``tried`` candidates, ``cached`` needed no run."""

    identity: Identity
    state: State
    before: Candidate
    after: Candidate
    tried: int = 0
    cached: int = 0


def shrink_each(incident: Incident, failures: Iterable[Failure], player: Player, journal: Journal, *, jobs: int = 1,
                runs: int = 1, watch: Watch = lambda _: None) -> Iterator[Shrunk]:
    """Shrink one failure after the other; what was seen for one counts for all. Raises RunnerError."""
    counts: Counter[bool] = Counter()

    def heard(tried: Tried) -> None:
        counts[tried.known] += 1
        watch(tried)

    with Trials(player, journal, jobs=jobs, runs=runs, watch=heard) as trials:
        for failure in failures:
            counts.clear()
            shrunk = _shrink(trials, failure, whole_of(incident))
            yield replace(shrunk, tried=counts.total(), cached=counts[True])


def _shrink(trials: Trials, failure: Failure, whole: Candidate) -> Shrunk:
    wanted = failure.identity.id
    answer = trials.answer(wanted, whole)
    if answer != "shows":
        return Shrunk(failure.identity, "undecided" if answer == "undecided" else "not_shown", whole, whole)
    after = shortest(whole, _asking(trials, wanted), failure.step)
    confirmed = trials.confirm(wanted, after)
    return Shrunk(failure.identity, "shrunk" if confirmed else "unconfirmed", whole, after)


def _asking(trials: Trials, wanted: str) -> Callable[[Iterable[Candidate]], int | None]:
    return lambda candidates: trials.first(wanted, candidates)
