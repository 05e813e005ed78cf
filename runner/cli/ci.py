"""``--ci``: a summary for whoever reads the job, in the run directory and on the job's page."""

from __future__ import annotations

import os
from pathlib import Path

import click

from runner.errors import RunnerError, printable

NAME = "summary.md"
PAGE_VARIABLE = "GITHUB_STEP_SUMMARY"
PAGE_BYTES = 1 << 20
"""GitHub drops the whole page of a step that writes more."""

_CUT = "\n\n_The page has room for no more; the whole summary is in the run directory._\n"


def write_summary(directory: Path) -> None:
    """Write the summary beside the evidence, and append it to the file that GITHUB_STEP_SUMMARY names, if any.

    The evidence is stored and the verdict stands: what cannot be written is a warning.
    """
    from runner.evidence.check import open_evidence  # start-up time: only CI needs these, and not before the end
    from runner.evidence.files import write_atomically
    from runner.reports.markdown import render_markdown

    try:
        text = render_markdown(open_evidence(directory))
        write_atomically(directory / NAME, text.encode())
        page = os.environ.get(PAGE_VARIABLE)
        if page:
            append_to_page(Path(page), text.encode())
    except RunnerError as error:
        _warn(error.message)
    except OSError as error:
        _warn(f"{PAGE_VARIABLE}: {error.strerror}")


def append_to_page(page: Path, text: bytes) -> None:
    """Append as much as the page has room for, whole lines only. Raises OSError."""
    with page.open("ab") as file:
        room = PAGE_BYTES - file.tell()
        if len(text) > room:
            text = text[:max(text.rfind(b"\n", 0, max(room - len(_CUT), 0)), 0)] + _CUT.encode()
        if len(text) <= room:
            file.write(text)


def _warn(said: str) -> None:
    click.echo(f"runner: WARNING: the summary was not written: {printable(said)}", err=True)
