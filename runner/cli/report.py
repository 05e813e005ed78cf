"""``runner report``: look at reports and evidence. Nothing is run, and no engine is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from runner.cli.completing import directories, files, runs_or_files
from runner.cli.outcome import ending, leave
from runner.errors import ExitCode, ReportError, RunnerError, UsageError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.sources.load import ParsedReport

_FORMATS = ("text", "json", "md", "markdown")
_FORMAT = click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True,
                       help="How to print it; markdown is the same as md.")


@click.group("report")
def command() -> None:
    """Check, show and compare reports, and tell what differs between two runs. Nothing is run."""


@command.command("validate")
@click.argument("report", metavar="REPORT", shell_complete=files)
@click.option("--payload", metavar="DIR", shell_complete=directories,
              help="Also compare this directory with what the report says of its payload.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@_FORMAT
def validate(report: str, payload: str | None, as_json: bool, form: str) -> None:
    """Check REPORT by every rule of its format, and its payload if it is given. Of a .repro file both are checked.

    REPORT may also be a recorded browser session: an incident.json, or the run directory that it lies in, LOKI's or
    ours. Of ours every digest is computed again.

    Exit code: 0 valid, 2 not.
    """
    from runner.cli.report_files import check_file  # start-up time: pydantic is slow to load
    from runner.cli.session_files import check_recorded, is_recorded
    from runner.reports.claims.summary import summarise, summary_json, summary_markdown, summary_text

    if as_json and form not in ("text", "json"):
        raise UsageError("--json and --format say different things", hint="give one of them")
    with ending(as_json=as_json or form == "json"):
        if is_recorded(report):
            summary = check_recorded(report, payload)
        else:
            checked, match, name = check_file(report, payload)
            summary = summarise(checked, name, match)
        _print("json" if as_json else form, summary, summary_text, summary_json, summary_markdown)


@command.command("show")
@click.argument("report", metavar="REPORT", shell_complete=files)
@_FORMAT
def show(report: str, form: str) -> None:
    """Show what REPORT claims: the command, what it expects, payload, image, policy and limits.

    Of a recorded browser session (an incident.json, or its run directory): failures, steps, faults, what is not said.
    """
    from runner.cli.report_files import claims_in  # start-up time: pydantic is slow to load
    from runner.reports.claims.show import show_json, show_markdown, show_text

    with ending(as_json=form == "json"):
        _print(form, claims_in(report), show_text, show_json, show_markdown)


@command.command("compare")
@click.argument("reports", metavar="REPORT REPORT...", nargs=-1, required=True, shell_complete=files)
@click.option("--label", "labels", multiple=True, metavar="NAME", help="A name for each report, in order; repeatable.")
@_FORMAT
def compare(reports: Sequence[str], labels: Sequence[str], form: str) -> None:
    """Compare 2 to 32 reports: counts side by side, and what changes from each to the next.

    Neither paths nor texts of the reports are printed, so that the outcome can be shared. Exit code: 0 or 2.
    """
    from runner.reports.compare.rows import compare as compare_reports  # start-up time: pydantic is slow to load
    from runner.reports.compare.rows import labels_for
    from runner.reports.compare.text import comparison_json, comparison_markdown, comparison_text

    with ending(as_json=form == "json"):
        names = labels_for(len(reports), labels)
        read = [_numbered(number, path) for number, path in enumerate(reports, 1)]
        _print(form, compare_reports(read, names), comparison_text, comparison_json, comparison_markdown)


@command.command("diff")
@click.argument("a", metavar="A", shell_complete=runs_or_files)
@click.argument("b", metavar="B", shell_complete=runs_or_files)
@click.option("--exit-code", "tell", is_flag=True, help="Exit with 1 if they differ, as `git diff` does.")
@_FORMAT
def diff(a: str, b: str, tell: bool, form: str) -> None:
    """Tell what differs between two runs, or between two reports.

    A run is named by its id, a beginning of it, `latest`, or its directory; a report by its file. All of a run's
    evidence is checked first. Times and memory are shown, and are no difference. Exit code: 0, or 2.
    """
    from runner.cli.report_files import diff_files  # start-up time: pydantic is slow to load
    from runner.reports.diff.text import diff_json, diff_markdown, diff_text

    with ending(as_json=form == "json"):
        found = diff_files(a, b)
        _print(form, found, diff_text, diff_json, diff_markdown)
        leave(ExitCode.NOT_REPRODUCED if tell and not found["same"] else ExitCode.OK)


def _print(form: str, content: Any, text: Callable[[Any], str], json: Callable[[Any], str],
           markdown: Callable[[Any], str]) -> None:
    render = text if form == "text" else json if form == "json" else markdown
    click.echo(render(content))


def _numbered(number: int, path: str) -> ParsedReport:
    """A report whose error names it by its place in the line: comparisons, and their errors, are for sharing."""
    from runner.cli.report_files import read_file  # start-up time: pydantic is slow to load

    try:
        return read_file(path)
    except RunnerError as error:
        said = error.message.removeprefix(f"{printable(path)}: ")
        raise ReportError(f"report {number}: {said}", hint=error.hint) from None
