"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

from collections import Counter
from types import TracebackType
from typing import Self

from runner.cli.drawing import Drawing, duration
from runner.cli.terminal import Colour, painted
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged

_BAR_WIDTH = 24
_ROOM_FOR_BAR = 60
_COLOURS: dict[str, Colour] = {"passed": "green", "failed": "red"}


class RunProgress:
    """Tells the run that is under way, the time so far, and how the others ended.

    ``plain`` asks for lines also on a terminal, where something else writes to it. Use as a context manager: what it
    drew is gone afterwards.
    """

    def __init__(self, runs: int, *, quiet: bool, plain: bool = False) -> None:
        self._runs = runs
        self._outcomes: Counter[str] = Counter()
        self._drawing = Drawing(self._line, quiet=quiet, plain=plain)

    def __enter__(self) -> Self:
        self._drawing.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._drawing.__exit__(kind, value, trace)

    def judged(self, run: Judged) -> None:
        """A replayed run is over."""
        self._step(run.judgement.outcome, f"{run.judgement.outcome} ({run.observation.status.cause})")

    def observed(self, seen: Observation) -> None:
        """A recorded run is over."""
        code = "" if seen.status.returncode is None else f" {seen.status.returncode}"
        self._step(f"{seen.status.cause}{code}", f"{seen.status.cause}{code}")

    def _step(self, outcome: str, detail: str) -> None:
        self._drawing.change(
            lambda: self._outcomes.update([outcome]),
            lambda: f"run {self._outcomes.total()}/{self._runs}: {detail} at {self._drawing.elapsed:.1f}s")

    def _line(self, room: int) -> str:
        """What fits into ``room`` columns, the most telling first: numbers, time, outcomes, and last a bar."""
        done, elapsed = self._outcomes.total(), duration(self._drawing.elapsed)
        current = f"run {min(done + 1, self._runs)} of {self._runs}" if done < self._runs else "judging"
        shown = [f"{done}/{self._runs}", elapsed]
        if room > _ROOM_FOR_BAR:
            filled = _BAR_WIDTH * done // self._runs
            shown = [f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}]", *shown, current]
        line = "  ".join(shown)[:room]
        left = room - len(line)
        for outcome, count in self._outcomes.most_common():
            said = f"  {count} {outcome}"
            if len(said) > left:
                break
            left -= len(said)
            line += painted(said, _COLOURS.get(outcome, "yellow"), on=self._drawing.colours)
        return line
