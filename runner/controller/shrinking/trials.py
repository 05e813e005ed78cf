"""Trying candidates: several at once, none twice, and the first in order wins whichever answers first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self

from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.journal import Journal, Seen

_SIGNALS_SEEN_SECONDS = 0.5
Answer = Literal["shows", "shows_not", "undecided"]


class Player(Protocol):
    """Plays a candidate once, in a sandbox of its own; called from several threads."""

    def play(self, candidate: Candidate) -> Seen:
        """IDs of the recorded failures that it showed. One that diverged showed none; ``None`` when nothing can be
        said of it. Raises RunnerError for a fault of the machinery, which says nothing about any candidate.
        """

    def cancel(self) -> None:
        """End what is under way; from any thread."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One candidate's answer about one failure, told once. ``known``: nothing was run for it."""

    failure: str
    candidate: Candidate
    answer: Answer
    known: bool


Watch = Callable[[Tried], None]


class _Place(NamedTuple):
    at: int
    candidate: Candidate
    digest: str


class Trials:
    """Answers for one session's candidates. A candidate shows a failure when one of at most ``runs`` runs did: what
    was seen once can happen. After a run of which nothing can be said there is one more, and then it did not show it.

    Use as a context manager. Left by an error, what is under way is cancelled, and what ended by itself is kept.
    """

    def __init__(self, player: Player, journal: Journal, *, jobs: int = 1, runs: int = 1,
                 watch: Watch = lambda _: None) -> None:
        self._player = player
        self._journal = journal
        self._jobs = jobs
        self._runs = runs
        self._watch = watch
        self._told: dict[tuple[str, str], bool] = {}
        self._waiting: dict[Future[Seen], _Place] = {}
        self._pool = ThreadPoolExecutor(jobs, thread_name_prefix="candidate")
        self._seen: defaultdict[str, list[Seen]] = defaultdict(list)
        for candidate, seen in journal.entries:
            self._seen[candidate].append(seen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if self._waiting:
                self._player.cancel()
                wait(self._waiting)
                for future, place in self._waiting.items():
                    if future.exception() is None:
                        self._keep(place, future.result())
        finally:
            self._pool.shutdown()

    def first(self, failure: str, candidates: Iterable[Candidate]) -> int | None:
        """Position of the first candidate that shows this failure. Raises RunnerError."""
        numbered = (_Place(index, candidate, candidate.digest()) for index, candidate in enumerate(candidates))
        best: int | None = None
        while True:
            while best is None and len(self._waiting) < self._jobs and (place := next(numbered, None)) is not None:
                if self._settled(failure, place, known=True) == "shows":
                    best = place.at
            if not self._waiting:
                return best
            for place in self._ended():
                if best is not None and best < place.at:
                    continue
                if self._settled(failure, place, known=False) == "shows":
                    best = place.at

    def answer(self, failure: str, candidate: Candidate) -> Answer:
        """What one candidate shows. Raises RunnerError."""
        self.first(failure, [candidate])
        return self._answer(failure, candidate.digest()) or "undecided"

    def counts(self, failure: str) -> tuple[int, int]:
        """How many candidates have an answer about this failure, and how many of them needed no run."""
        known = [known for (other, _), known in self._told.items() if other == failure]
        return len(known), sum(known)

    def _settled(self, failure: str, place: _Place, *, known: bool) -> Answer | None:
        """The answer, told to whoever watches; else one more run of the candidate is begun."""
        answer = self._answer(failure, place.digest)
        if answer is None:
            if all(place.digest != other.digest for other in self._waiting.values()):
                self._submit(place)
        elif (failure, place.digest) not in self._told:
            self._told[failure, place.digest] = known
            self._watch(Tried(failure, place.candidate, answer, known))
        return answer

    def _answer(self, failure: str, digest: str) -> Answer | None:
        seen = self._seen[digest]
        if any(failure in run for run in seen if run is not None):
            return "shows"
        if len(seen) < self._runs + (None in seen):
            return None
        return "undecided" if all(run is None for run in seen) else "shows_not"

    def _submit(self, place: _Place) -> None:
        self._waiting[self._pool.submit(self._player.play, place.candidate)] = place

    def _ended(self) -> list[_Place]:
        """Those whose run has ended, in their order; what was seen is in the journal."""
        # Not for ever: a signal that comes just before the wait is acted on when it ends.
        done, _ = wait(self._waiting, timeout=_SIGNALS_SEEN_SECONDS, return_when=FIRST_COMPLETED)
        ended = []
        for future in sorted(done, key=lambda future: self._waiting[future].at):
            place = self._waiting[future]
            seen = future.result()
            del self._waiting[future]
            self._keep(place, seen)
            ended.append(place)
        return ended

    def _keep(self, place: _Place, seen: Seen) -> None:
        self._seen[place.digest].append(seen)
        self._journal.append(place.digest, seen)
