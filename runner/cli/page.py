"""``report.html`` beside the evidence of a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click

from runner.errors import RunnerError, printable

NAME = "report.html"


@contextmanager
def page_writer() -> Iterator[Callable[[Path], None]]:
    """Hands out what writes the page of a run directory.

    The renderer costs about 80 ms to load. It is loaded by a thread while the block does its work, which is mostly
    waiting for an engine, so that writing the page itself takes a few milliseconds.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="page") as pool:
        loaded = pool.submit(_load)
        yield lambda directory: _write(directory, loaded.result())


def _load() -> Callable[[Path], str]:
    # Start-up time: only a replay needs these, and then not before its end.
    from runner.evidence.check import open_evidence
    from runner.evidence.result import Result
    from runner.reports.html import load, render_html

    Result.model_rebuild()  # its validators are built at the first use, and this is before it
    load()
    return lambda directory: render_html(open_evidence(directory))


def _write(directory: Path, render: Callable[[Path], str]) -> None:
    """The evidence is stored and the verdict stands: a page that cannot be written is a warning."""
    from runner.evidence.files import write_atomically  # start-up time, as above

    try:
        write_atomically(directory / NAME, render(directory).encode())
    except RunnerError as error:
        click.echo(f"runner: WARNING: {NAME} was not written: {printable(error.message)}", err=True)
