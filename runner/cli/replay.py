"""``runner replay``: the main job."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from runner.cli.ci import write_summary
from runner.cli.completing import files, policies
from runner.cli.outcome import ending, leave, tell
from runner.cli.page import page_writer
from runner.cli.plan import ReplayPlan
from runner.cli.progress import RunProgress
from runner.cli.sessions import application_options, is_session
from runner.cli.terminal import VERDICT_COLOURS, colours, painted
from runner.cli.verbose import tell_steps, telling, verbose_option
from runner.controller.line import Progress, Replayed
from runner.errors import UsageError
from runner.reports.text import render_text


@click.command("replay", context_settings={"show_default": True})
@click.argument("report", shell_complete=files)
@application_options
@click.option("--yes", is_flag=True, help="Run it. Without this, only the plan is shown.")
@click.option("--runs", default=1, metavar="N", help="Fresh runs; all must match.")
@click.option("--jobs", default=1, metavar="N", help="Runs at the same time.")
@click.option("--timeout", type=float, metavar="SEC", help="Seconds per run, instead of the report's.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A recorded variable's value; repeatable.")
@click.option("--backend", type=click.Choice(["recorded", "host", "docker"]),
              help="Where to run; docker unless you say otherwise. host is no sandbox.")
@click.option("--docker-image", metavar="IMG", help="A local image instead of the recorded one; never pulled.")
@click.option("--docker-network", type=click.Choice(["none", "bridge", "host"]),
              help="An explicit opt-in to a network; none whatever the report says.")
@click.option("--exit-code", type=int, metavar="N", help="For a legacy report without a contract of its own.")
@click.option("--policy", metavar="NAME|FILE", shell_complete=policies, help="The policy; `default` if not said.")
@click.option("--video", is_flag=True, help="Browser sessions: keep a video of each run.")
@click.option("--browser-image", metavar="IMG", help="Browser sessions: a local image of yours for the browser.")
@click.option("--inherit-env", is_flag=True, help="Host backend: pass this process's whole environment.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the evidence to this new directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
@click.option("--ci", is_flag=True, help="Plain lines; summary.md in the run directory and in $GITHUB_STEP_SUMMARY.")
@verbose_option
def command(report: str, yes: bool, out: Path | None, as_json: bool, quiet: bool, ci: bool, verbose: bool,
            **options: Any) -> None:
    """Replay REPORT on fresh copies of a payload: does it really fail as claimed?

    REPORT is a native report, a ReproMin report.json, a .repro bundle, which holds its payload too, or a browser
    session: a run directory of `runner chaos` or of LOKI, or `latest`. Exit code: 0 every run matched, 1 at least one
    did not, 2 nothing was judged, 3 no verdict can be given.
    """
    with ending(as_json=as_json):
        plan = _planned(report, options)
        if not yes:
            if not as_json:
                click.echo(plan.text)
            raise UsageError("nothing was run: this report is not trusted yet", hint="add --yes to run the plan")
        if plan.on_host:
            click.echo("runner: WARNING: running on this host, outside any sandbox", err=True)
        with telling(verbose=verbose), page_writer() as write_page:
            with RunProgress(plan.runs, quiet=quiet, plain=ci or verbose) as progress:
                done = plan.perform(out=out, progress=Progress(progress.judged, write_page.load))
            _print(done, as_json=as_json, colour=not ci and colours(sys.stdout))
            write_page(done.directory)
            if ci:
                write_summary(done.directory)
        if verbose:
            tell_steps(done.directory, done.result.run_id, done.result.started)
        leave(done.result.exit_code)


def _planned(report: str, options: dict[str, Any]) -> ReplayPlan:
    # Start-up time: what one kind needs is of no use to the other.
    if is_session(report):
        from runner.cli.session_replay import plan_session
        return plan_session(report, options)
    from runner.cli.command_replay import plan_command
    return plan_command(report, options)


def _print(done: Replayed, *, as_json: bool, colour: bool) -> None:
    if as_json:
        tell(done.result.told_json())
        return
    headline, rest = render_text(done.result, str(done.directory)).split("\n", 1)
    tell(f"{painted(headline, VERDICT_COLOURS[done.result.verdict], on=colour)}\n{rest}")
