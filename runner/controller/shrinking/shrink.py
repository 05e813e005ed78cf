"""One failure of a session, from its whole trace to the shortest; confirmed at the end by a run of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.search import shortest
from runner.controller.shrinking.trials import Trials

State = Literal["shrunk", "not_shown", "undecided", "unconfirmed"]
"""``shrunk``: the shortest shows it, in a fresh run. ``not_shown``, ``undecided``: the whole session does not show it,
or says nothing, so there is nothing to shrink. ``unconfirmed``: the shortest did not show it again."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """What became of one failure."""

    failure: str
    state: State
    before: Candidate
    after: Candidate


def shrink(trials: Trials, failure: str, whole: Candidate, failing_step: int | None = None) -> Shrunk:
    """Shrink ``whole`` as long as it shows ``failure``. Raises RunnerError."""
    answer = trials.answer(failure, whole)
    if answer != "shows":
        return Shrunk(failure, "undecided" if answer == "undecided" else "not_shown", whole, whole)

    def first(candidates: Iterable[Candidate]) -> int | None:
        return trials.first(failure, candidates)

    after = shortest(whole, first, failing_step)
    return Shrunk(failure, "shrunk" if trials.confirm(failure, after) else "unconfirmed", whole, after)
