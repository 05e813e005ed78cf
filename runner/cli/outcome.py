"""How every command ends: errors as one line (or JSON), signals as a clean stop."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import click

from runner.errors import ExitCode, Interrupted, RunnerError, printable


def tell(text: str) -> None:
    """Print. A reader that has gone changes neither the work nor the exit code: 1 would say `not reproduced`."""
    try:
        click.echo(text)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # what is still buffered is written at the end of the process
        os.close(nowhere)


def fail(error: RunnerError, *, as_json: bool) -> NoReturn:
    """Say what is wrong, where and what to do, and leave with the error's exit code."""
    if as_json:
        tell(json.dumps({"ok": False, "reproduced": False, "error": error.message, "code": error.code,
                         "hint": error.hint}, sort_keys=True))
    else:
        click.echo(f"runner: {printable(error.message)}" + (f" ({printable(error.hint)})" if error.hint else ""),
                   err=True)
    sys.exit(int(error.exit_code))


@contextmanager
def ending(*, as_json: bool) -> Iterator[None]:
    """Run a command's body: Ctrl-C and TERM become Interrupted, our errors become one line."""
    try:
        with interruptible():
            yield
    except RunnerError as error:
        fail(error, as_json=as_json)
    except KeyboardInterrupt:
        fail(Interrupted("interrupted"), as_json=as_json)
    except RecursionError:
        fail(RunnerError("the input is nested too deeply to be read"), as_json=as_json)


@contextmanager
def interruptible() -> Iterator[None]:
    """The first INT or TERM raises Interrupted in the main thread; later ones wait for the clean-up to end."""
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    handler = _once()
    for number in previous:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)


def _once() -> Callable[[int, FrameType | None], None]:
    told: list[int] = []

    def handle(number: int, _: FrameType | None) -> None:
        if told:
            return
        told.append(number)
        raise Interrupted(f"interrupted by {signal.Signals(number).name}; nothing is left behind")

    return handle


def leave(code: int) -> NoReturn:
    """End the process with a code of the table."""
    sys.exit(int(ExitCode(code)))
