"""``--verbose``: engine calls with their times on stderr, and where the time of a replay went."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from runner.errors import printable

F = TypeVar("F", bound=Callable[..., Any])
_STEPS = {"replay.started": "engine, image and seal", "payload.sealed": "engine, image and seal",
          "run.judged": "runs", "replay.judged": "verdict"}
"""What ends with an event of a kind."""


def verbose_option(command: F) -> F:
    """Adds ``--verbose``."""
    return click.option("--verbose", is_flag=True, help="Tell each engine call and its time on stderr.")(command)


class _Calls(logging.Handler):
    """Prints calls and adds them up."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        click.echo(f"engine  {record.getMessage()}", err=True)


@contextmanager
def telling(*, verbose: bool) -> Iterator[None]:
    """Tell the engine calls that are made in the block."""
    if not verbose:
        yield
        return
    logger, handler = logging.getLogger("runner.engine"), _Calls()
    level, propagates = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagates
        click.echo(f"engine  {handler.count} calls", err=True)


def tell_steps(directory: Path, run_id: str, started: str) -> None:
    """Where a replay's time went since it was ``started``, by the event log in its run directory."""
    from runner.evidence.events import read_events  # start-up time: only needed at the end

    totals: dict[str, float] = {}
    before = datetime.fromisoformat(started)
    for event in read_events((directory / "events.jsonl").read_bytes(), run_id):
        now, name = datetime.fromisoformat(event.at), _STEPS[event.kind]
        totals[name] = totals.get(name, 0.0) + (now - before).total_seconds()
        before = now
    for name, seconds in totals.items():
        click.echo(f"time    {seconds:8.3f} s  {printable(name)}", err=True)
