"""``runner runs show`` and ``runner runs open``: one replay, after everything about it was checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from runner.cli.completing import runs
from runner.cli.outcome import ending
from runner.cli.runs.listing import row_document
from runner.cli.runs.stores import opened_store
from runner.errors import UsageError, printable
from runner.evidence.index import Row

if TYPE_CHECKING:
    from runner.evidence.check import Evidence
    from runner.evidence.known import Unfinished


@click.command("show")
@click.argument("run", shell_complete=runs)
@click.option("--events", is_flag=True, help="Print the event log, as it is stored: one line an event.")
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON.")
def show_command(run: str, events: bool, as_json: bool) -> None:
    """Show one replay: its verdict, or what was confirmed of one that did not finish.

    Every digest is computed again, and directory and index must agree. The verdict does not matter here: exit code 0
    means that the evidence is whole, 2 that it is not.
    """
    from runner.evidence.known import Unfinished, load  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        if events and as_json:
            raise UsageError("--events and --json exclude each other", hint="the event log is JSON, a line an event")
        with opened_store() as index:
            found = load(index, run)
        if events:
            text = "\n".join(line.decode() for line in found.lines)
        elif isinstance(found, Unfinished):
            text = _unfinished_json(found) if as_json else _unfinished_text(found)
        else:
            text = found.evidence.result.to_json() if as_json else _text(found.evidence)
        click.echo(text)


@click.command("open")
@click.argument("run", shell_complete=runs)
@click.option("--browser", is_flag=True, help="Show the page in a browser as well.")
def open_command(run: str, browser: bool) -> None:
    """Write the page report.html of a finished replay into its run directory, and print where it is."""
    from runner.cli.page import NAME  # start-up time: pydantic is slow to load
    from runner.evidence.check import open_evidence
    from runner.evidence.database import store_root
    from runner.evidence.files import write_atomically
    from runner.evidence.index import find_run
    from runner.reports.html import render_html

    with ending(as_json=False):
        with opened_store():
            directory = find_run(run, store_root())
        page = directory.absolute() / NAME
        write_atomically(page, render_html(open_evidence(directory)).encode())
        click.echo(printable(str(page)))
        if browser:
            import webbrowser  # start-up time: rarely asked for

            webbrowser.open(page.as_uri())


def _text(evidence: Evidence) -> str:
    from runner.reports.text import render_text  # start-up time: pydantic is slow to load

    return render_text(evidence.result, str(evidence.directory))


def _unfinished_text(found: Unfinished) -> str:
    row = found.row
    lines = [f"{row.state.upper()}: {len(found.judged)} of {row.runs} runs were confirmed",
             f"command      {row.command}", f"backend      {row.backend}", f"report       {row.report}",
             f"started      {row.started}"]
    lines += [f"run          {run['index']}: {run['outcome']} ({run['cause']})" for run in found.judged]
    place = _place(row)
    lines.append(f"files        {place or 'none'}")
    return "\n".join(printable(line) for line in lines)


def _unfinished_json(found: Unfinished) -> str:
    return json.dumps({**row_document(found.row), "ok": False, "reproduced": False, "files": _place(found.row),
                       "samples": found.judged}, sort_keys=True)


def _place(row: Row) -> str | None:
    from runner.evidence.removal import place_of  # start-up time: only for what has no result

    place = place_of(row)
    return printable(str(place)) if place else None


