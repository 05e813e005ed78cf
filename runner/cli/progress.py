"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet.

A line of our own rather than a library's: loading one costs more than a small replay's share of this program.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from types import TracebackType
from typing import Self

from runner.cli.terminal import Colour, colours, painted, redraws, width
from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged

_BAR_WIDTH = 24
_ROOM_FOR_BAR = 60
_TICK_SECONDS = 0.25
_CLEAR = "\r\x1b[K"
_COLOURS: dict[str, Colour] = {"passed": "green", "failed": "red"}


class RunProgress:
    """Tells the run that is under way, the time so far, and how the others ended.

    ``plain`` asks for lines also on a terminal, where something else writes to it. Use as a context manager: what it
    drew is gone afterwards.
    """

    def __init__(self, runs: int, *, quiet: bool, plain: bool = False) -> None:
        self._runs = runs
        self._quiet = quiet
        self._bar = not quiet and not plain and redraws(sys.stderr)
        self._colours = colours(sys.stderr)
        self._outcomes: Counter[str] = Counter()
        self._begun = time.monotonic()
        self._drawing = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self._bar:
            self._draw()
            self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._over.set()
        if self._bar:
            self._ticker.join()
            self._write(_CLEAR)

    def judged(self, run: Judged) -> None:
        """A replayed run is over."""
        self._step(run.judgement.outcome, f"{run.judgement.outcome} ({run.observation.status.cause})")

    def observed(self, seen: Observation) -> None:
        """A recorded run is over."""
        code = "" if seen.status.returncode is None else f" {seen.status.returncode}"
        self._step(f"{seen.status.cause}{code}", f"{seen.status.cause}{code}")

    def _step(self, outcome: str, detail: str) -> None:
        with self._drawing:
            self._outcomes[outcome] += 1
        if self._bar:
            self._draw()
        elif not self._quiet:
            done, elapsed = self._outcomes.total(), time.monotonic() - self._begun
            self._write(f"run {done}/{self._runs}: {detail} at {elapsed:.1f}s\n")

    def _tick(self) -> None:
        while not self._over.wait(_TICK_SECONDS):
            self._draw()

    def _draw(self) -> None:
        with self._drawing:
            self._write(_CLEAR + self._line(width(sys.stderr) - 1))

    def _line(self, room: int) -> str:
        """What fits into ``room`` columns, the most telling first: numbers, time, outcomes, and last a bar."""
        done, elapsed = self._outcomes.total(), _duration(time.monotonic() - self._begun)
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
            line += painted(said, _COLOURS.get(outcome, "yellow"), on=self._colours)
        return line

    @staticmethod
    def _write(text: str) -> None:
        """In one piece; a reader of progress that went away is no reason to end a replay."""
        with suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f}s"
    return f"{whole // 60}m{whole % 60:02d}s" if whole < 3600 else f"{whole // 3600}h{whole % 3600 // 60:02d}m"
