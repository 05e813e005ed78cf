"""The part of the straight line that every workload takes: runs are observed, judged and put into the evidence, and
whatever cuts them short ends as a verdict that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from runner.controller.observe import RunsCut, observe
from runner.controller.records import sample_of
from runner.errors import Interrupted, RunnerError
from runner.evidence.observation import Observation
from runner.evidence.result import Result
from runner.evidence.store import RunDirectory
from runner.evidence.verdict import Judged, Verdict, VerdictKind
from runner.oracles.judgement import unjudged
from runner.sandbox.backends.base import CLEANUP_INCOMPLETE, BackendFacts, Plan, Session

Judge = Callable[[Observation], Judged]


def _ignore(*_: object) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Progress:
    """Who is told how the runs go: ``running`` once, as the first begins to execute, ``judged`` of each that is
    over.
    """

    judged: Callable[[Judged], None] = _ignore
    running: Callable[[], None] = _ignore


UNWATCHED = Progress()


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome: the evidence and where it was put. ``fault`` is what cut the replay short, if anything."""

    result: Result
    directory: Path
    fault: RunnerError | None = None


class Gathered:
    """Judges each run as it ends and puts it into the evidence, before anybody is told of it."""

    def __init__(self, judge: Judge, directory: RunDirectory, progress: Progress, facts: BackendFacts) -> None:
        self.judged: list[Judged] = []
        self.facts = facts
        self._judge = judge
        self._directory = directory
        self.progress = progress

    def add(self, observation: Observation) -> None:
        """A run is over. Raises RunnerError."""
        try:
            run = self._judge(observation)
        except RunnerError as error:
            # A runaway pattern ends the replay, yet what was run is evidence.
            self._keep(Judged(observation, unjudged(error.message)))
            raise
        self._keep(run)
        self.progress.judged(self.judged[-1])

    def in_order(self) -> tuple[Judged, ...]:
        """By the index of the run."""
        return tuple(sorted(self.judged, key=lambda run: run.observation.index))

    def _keep(self, run: Judged) -> None:
        kept = replace(run, observation=self._directory.keep(run.observation))
        self._directory.record("run.judged", sample_of(kept).model_dump(mode="json"))
        self.judged.append(kept)


def run_all(opened: AbstractContextManager[Session], plan: Plan, found: Gathered,
            afterwards: Callable[[], None]) -> RunnerError | None:
    """Run everything, then ``afterwards``; a fault of the machinery is returned, an interrupt is raised."""
    seen: set[int] = set()

    def once(observation: Observation) -> None:
        seen.add(observation.index)
        found.add(observation)

    try:
        with opened as session:
            try:
                observe(session, plan, once, found.progress.running)
            finally:
                found.facts = session.facts()
        afterwards()
    except RunsCut as cut:
        for observation in cut.finished:
            if observation.index not in seen:
                once(observation)
        if isinstance(cut.__cause__, RunnerError) and not isinstance(cut.__cause__, Interrupted):
            for note in getattr(cut, "__notes__", []):
                cut.__cause__.add_note(note)
            return cut.__cause__
        raise (cut.__cause__ or cut) from None
    except Interrupted:
        raise
    except RunnerError as error:
        return error
    return None


def cut_short(fault: RunnerError) -> Verdict:
    """The verdict of a replay that a fault of the machinery ended."""
    said = (fault.message, f"what to do: {fault.hint}") if fault.hint else (fault.message,)
    return Verdict(VerdictKind.NO_VERDICT, fault.exit_code, said)


def cleanup_after(fault: RunnerError) -> str:
    """How the clean-up after a fault went, in the words of the evidence."""
    notes: list[str] = getattr(fault, "__notes__", [])
    return CLEANUP_INCOMPLETE if CLEANUP_INCOMPLETE in notes else "complete"
