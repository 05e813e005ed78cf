"""``--verbose``: engine calls with their times on stderr, and where the time of a replay went."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeVar

import click

from runner.errors import printable

F = TypeVar("F", bound=Callable[..., Any])
_STEPS = {"payload.sealed": "engine, image and seal", "run.judged": "runs", "replay.judged": "verdict"}
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


def tell_steps(moments: Iterable[tuple[str, str]]) -> None:
    """Where a replay's time went, by its event log: kind and time of each event."""
    totals: dict[str, float] = {}
    for (_, begun), (kind, ended) in pairwise(moments):
        name = _STEPS.get(kind, kind)
        took = (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
        totals[name] = totals.get(name, 0.0) + took
    for name, seconds in totals.items():
        click.echo(f"time    {seconds:8.3f} s  {printable(name)}", err=True)
