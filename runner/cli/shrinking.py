"""What ``runner shrink`` tells: progress on stderr, the results on stdout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from runner.cli.drawing import Drawing, duration
from runner.cli.terminal import Colour, painted
from runner.controller.sessions.runs import step_text
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.shrink import Shrunk, State
from runner.controller.shrinking.trials import Tried
from runner.errors import ExitCode, printable
from runner.incidents.model import Incident
from runner.incidents.steps import write_step

_SAID: Final[Mapping[State, tuple[str, Colour]]] = {
    "shrunk": ("SHRUNK", "green"), "not_shown": ("NOT SHOWN by the whole session", "red"),
    "undecided": ("UNDECIDED", "yellow"), "unconfirmed": ("NOT CONFIRMED", "yellow")}


class ShrinkProgress:
    """Tells how many candidates were tried, how many of them cost nothing, and the shortest that showed the failure.

    Use as a context manager: what it drew is gone afterwards.
    """

    def __init__(self, *, quiet: bool, plain: bool = False) -> None:
        self._failure = ""
        self._answers: Counter[str] = Counter()
        self._best: Candidate | None = None
        self._drawing = Drawing(self._line, quiet=quiet, plain=plain)

    def __enter__(self) -> Self:
        self._drawing.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._drawing.__exit__(kind, value, trace)

    def tried(self, tried: Tried) -> None:
        """One more candidate has its answer."""
        self._drawing.change(lambda: self._note(tried), lambda: self._plain(tried))

    def _note(self, tried: Tried) -> None:
        if tried.failure != self._failure:
            self._failure, self._best = tried.failure, None
            self._answers.clear()
        self._answers["tried"] += 1
        self._answers["cached"] += tried.known
        if tried.answer == "shows" and (self._best is None or tried.candidate.actions <= self._best.actions):
            self._best = tried.candidate

    def _plain(self, tried: Tried) -> str:
        how = "cached" if tried.known else f"at {self._drawing.elapsed:.1f}s"
        return (f"{printable(self._failure)} candidate {self._answers['tried']}: {size_of(tried.candidate)}: "
                f"{tried.answer.replace('_', ' ')} ({how}); {self._left()}")

    def _left(self) -> str:
        return "nothing shown yet" if self._best is None else f"{size_of(self._best)} left"

    def _line(self, room: int) -> str:
        """What fits into ``room`` columns, the most telling first."""
        counts = f"{self._answers['tried']} tried  {self._answers['cached']} cached"
        begun = f"{counts}  {duration(self._drawing.elapsed)}  "[:room]
        left = self._left()[:room - len(begun)]
        line = begun + painted(left, "green" if self._best else "yellow", on=self._drawing.colours)
        return line + f"  {printable(self._failure)}"[:room - len(begun) - len(left)]


def size_of(candidate: Candidate) -> str:
    """In words: steps, clicks where they are more, faults and lanes where there are any."""
    counts = [(len(candidate.trace), "step"), (candidate.faults, "fault"), (candidate.lanes, "lane")]
    words = [f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts
             if number or (word == "step" and not candidate.lanes)]
    if candidate.actions > len(candidate.trace):
        words.insert(1, f"{candidate.actions} actions")
    return ", ".join(words)


def exit_code_of(done: Sequence[Shrunk]) -> ExitCode:
    """The worst of all failures' ends."""
    states = {each.state for each in done}
    if states & {"undecided", "unconfirmed"}:
        return ExitCode.NO_VERDICT
    return ExitCode.NOT_REPRODUCED if "not_shown" in states else ExitCode.OK


def text_of(done: Sequence[Shrunk], *, colour: bool) -> str:
    """A paragraph for each failure."""
    return "\n".join(_paragraph(each, colour=colour) for each in done)


def _paragraph(each: Shrunk, *, colour: bool) -> str:
    said, painted_as = _SAID[each.state]
    lines = [f"{painted(said, painted_as, on=colour)}: {each.identity.id} {each.identity.key}"]
    if each.state in ("shrunk", "unconfirmed"):
        lines += [f"  from {size_of(each.before)} to {size_of(each.after)}",
                  *(f"  {number}. {step_text(step)}" for number, step in enumerate(each.after.trace, 1)),
                  f"  kept in {printable(str(each.directory))}"]
    return "\n".join([*lines, f"  {each.tried} candidates, {each.cached} of them known before"])


def document_of(incident: Incident, done: Sequence[Shrunk]) -> dict[str, Any]:
    """The results for programs. ``actions`` count each click of a step."""
    code = exit_code_of(done)
    return {"ok": code is ExitCode.OK, "exit_code": int(code), "incident": printable(incident.path),
            "incident_sha256": incident.sha256, "failures": [_entry(each) for each in done]}


def _entry(each: Shrunk) -> dict[str, Any]:
    return {"id": each.identity.id, "identity": each.identity.key, "state": each.state,
            "before": _sizes(each.before), "after": _sizes(each.after),
            "trace": [write_step(step) for step in each.after.trace], "tried": each.tried, "cached": each.cached,
            "directory": str(each.directory) if each.directory is not None else None}


def _sizes(candidate: Candidate) -> dict[str, int]:
    return {"steps": len(candidate.trace), "actions": candidate.actions, "faults": candidate.faults,
            "lanes": candidate.lanes}
