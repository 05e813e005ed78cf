"""``report.html`` beside the evidence of a replay."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click

from runner.errors import RunnerError, printable

NAME = "report.html"


class PageWriter:
    """Writes the page of a run directory. The renderer takes 80 ms to load: ``load`` has a thread do that while a run
    is waited for, and not before, since it would keep the run from being started.
    """

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool = pool
        self._loaded: Future[Callable[[Path], str]] | None = None

    def load(self) -> None:
        """Begin to, if that was not done yet."""
        if self._loaded is None:
            self._loaded = self._pool.submit(_load)

    def __call__(self, directory: Path) -> None:
        """Write ``report.html``, or warn."""
        self.load()
        assert self._loaded is not None
        _write(directory, self._loaded.result())


@contextmanager
def page_writer() -> Iterator[PageWriter]:
    """One that has nothing under way when the block is over."""
    with ThreadPoolExecutor(1, thread_name_prefix="page") as pool:
        yield PageWriter(pool)


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
