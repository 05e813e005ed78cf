"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

import click

from runner.evidence.observation import Observation
from runner.evidence.verdict import Judged

_WIDTH = 24


class RunProgress:
    """Tells run k of N, the time so far and the last outcome."""

    def __init__(self, runs: int, *, quiet: bool) -> None:
        self._runs = runs
        self._quiet = quiet
        self._bar = sys.stderr.isatty()
        self._done = 0
        self._begun = time.monotonic()

    def __enter__(self) -> Self:
        self._show("starting")
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self._bar and not self._quiet:
            click.echo("\r\x1b[K", nl=False, err=True)

    def judged(self, run: Judged) -> None:
        """A replayed run is over."""
        self._step(f"{run.judgement.outcome} ({run.observation.status.cause})")

    def observed(self, seen: Observation) -> None:
        """A recorded run is over."""
        code = "" if seen.status.returncode is None else f" {seen.status.returncode}"
        self._step(f"{seen.status.cause}{code}")

    def _step(self, outcome: str) -> None:
        self._done += 1
        self._show(outcome)

    def _show(self, outcome: str) -> None:
        if self._quiet:
            return
        elapsed = time.monotonic() - self._begun
        if self._bar:
            filled = _WIDTH * self._done // self._runs
            bar = "#" * filled + "." * (_WIDTH - filled)
            click.echo(f"\r\x1b[K[{bar}] {self._done}/{self._runs} {elapsed:5.1f}s {outcome}", nl=False, err=True)
        elif self._done:
            click.echo(f"run {self._done}/{self._runs}: {outcome} at {elapsed:.1f}s", err=True)
