"""``runner replay``: the main job."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from runner.cli.ci import write_summary
from runner.cli.completing import files, policies
from runner.cli.outcome import ending, leave, tell
from runner.cli.page import page_writer
from runner.cli.progress import RunProgress
from runner.cli.sessions import SESSION_OPTIONS, application_options, is_session, take_application
from runner.cli.terminal import VERDICT_COLOURS, colours, painted
from runner.cli.verbose import tell_steps, telling, verbose_option
from runner.controller.replay import Replayed, replay
from runner.controller.settle import ReplayRequest, Settled, settle, wanted_image
from runner.errors import UsageError, printable
from runner.reports.text import render_text
from runner.sandbox.sizes import format_size


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
        plan = (_session if is_session(report) else _command)(report, options)
        if not yes:
            if not as_json:
                click.echo(plan.text)
            raise UsageError("nothing was run: this report is not trusted yet", hint="add --yes to run the plan")
        if plan.on_host:
            click.echo("runner: WARNING: running on this host, outside any sandbox", err=True)
        with telling(verbose=verbose), page_writer() as write_page:
            with RunProgress(plan.runs, quiet=quiet, plain=ci or verbose) as progress:
                done = plan.perform(out=out, progress=progress.judged)
            _print(done, as_json=as_json, colour=not ci and colours(sys.stdout))
            write_page(done.directory)
            if ci:
                write_summary(done.directory)
        if verbose:
            tell_steps(done.directory, done.result.run_id, done.result.started)
        leave(done.result.exit_code)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What would be run, in words, and how to run it."""

    text: str
    runs: int
    perform: Callable[..., Replayed]
    on_host: bool = False


def _command(report: str, options: dict[str, Any]) -> _Plan:
    payload = options.pop("payload")
    for name, value in [(name, options.pop(name)) for name in SESSION_OPTIONS]:
        if value:
            raise UsageError(f"--{name.replace('_', '-')}: is for browser sessions",
                             hint="leave it out, or name a run directory with an incident.json")
    settled = settle(ReplayRequest(report=report, payload=payload, **options))
    return _Plan(_plan_text(settled), settled.request.runs, partial(replay, settled), settled.backend == "host")


def _session(report: str, options: dict[str, Any]) -> _Plan:
    # Start-up time: most replays are of commands.
    from runner.cli.session_replay import SessionChoice, plan_text, replay_session, settle_replay

    application = take_application(options)
    for name in ("backend", "exit_code", "inherit_env"):
        if options.pop(name) not in (None, False, "docker"):
            raise UsageError(f"--{name.replace('_', '-')}: is not for browser sessions, which run in the sandbox",
                             hint="leave it out")
    network = options.pop("docker_network")
    settled = settle_replay(SessionChoice(report=report, network=None if network == "none" else network, **options),
                            application)
    return _Plan(plan_text(settled), settled.request.runs, partial(replay_session, settled))


def _print(done: Replayed, *, as_json: bool, colour: bool) -> None:
    if as_json:
        tell(done.result.told_json())
        return
    headline, rest = render_text(done.result, str(done.directory)).split("\n", 1)
    tell(f"{painted(headline, VERDICT_COLOURS[done.result.verdict], on=colour)}\n{rest}")


def _plan_text(settled: Settled) -> str:
    case, policy = settled.case, settled.policy
    image = wanted_image(settled) or (case.execution.image.id if case.execution.image else "our command image")
    limits = (f"memory {format_size(policy.memory)}, work {format_size(policy.work.size)}, pids {policy.pids}, "
              f"cpus {policy.cpus:g}")
    docker = settled.backend == "docker"
    rows = [
        ("command", case.workload.display),
        ("expects", _expectation(settled)),
        ("payload", settled.request.payload or "in the bundle"),
        ("backend", f"{settled.backend} (recorded: {case.execution.backend})"),
        ("image", image if docker else "none: the host itself"),
        ("network", settled.network if docker else "the host's"),
        ("runs", f"{settled.request.runs}, each at most {settled.timeout:g} s"),
        ("environment", ", ".join(case.environment.names) or "nothing of yours"),
        ("policy", f"{policy.name}: {limits}"),
    ]
    return "\n".join(f"{name:<12} {printable(str(value))}" for name, value in rows)


def _expectation(settled: Settled) -> str:
    contract = settled.case.contract
    parts = [f"exit code {'not 0' if contract.exit_code is None else contract.exit_code}"]
    if contract.match:
        parts.append(f"output matching {contract.match}")
    if contract.signature is not None:
        parts.append(f"a {contract.signature.kind} signature")
    return ", ".join(parts)
