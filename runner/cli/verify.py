"""``runner verify``: run a load scenario against an application, to a verdict."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from runner.cli.completing import directories, policies
from runner.cli.outcome import ending, leave, tell
from runner.cli.page import PageWriter, page_writer
from runner.cli.progress import RunProgress
from runner.cli.terminal import VERDICT_COLOURS, colours, painted
from runner.controller.line import Progress, Replayed
from runner.controller.loads.perform import verify_scenario
from runner.controller.loads.recorded import read_recorded
from runner.controller.loads.request import LoadRequest, SettledLoad, settle_load
from runner.controller.loads.series import Series, repeat_scenario
from runner.controller.sessions.request import Application
from runner.errors import UsageError, printable
from runner.reports.text import render_text
from runner.reports.words import counted


@click.command("verify", context_settings={"show_default": True})
@click.argument("scenario", shell_complete=directories)
@click.option("--payload", metavar="DIR", shell_complete=directories, help="The application's files.")
@click.option("--target-command", metavar="CMD", help="What starts the application, in a container of its own.")
@click.option("--target-url", metavar="URL", help="Where it listens there, such as http://127.0.0.1:8000.")
@click.option("--target", "elsewhere", metavar="URL",
              help="An application that runs already, outside the sandbox: the load gets a network for it.")
@click.option("--ready", metavar="PATH", help="The application has started when a GET of PATH is answered; "
                                              "otherwise when its port takes connections.")
@click.option("--ready-status", type=click.IntRange(100, 599), metavar="N",
              help="What that GET must answer; anything below 500 if not said.")
@click.option("--ready-timeout", type=float, metavar="SEC", help="How long the application may take to start.")
@click.option("--seed", type=int, metavar="N",
              help="Resolves the schedule, and seeds the script's rng; 0, or the recorded run's, if not said.")
@click.option("--recorded", metavar="RUN", shell_complete=directories,
              help="An earlier run, of ours or of LiteTraffic: what differs, k6 included, is told as drift.")
@click.option("--repeat", type=int, default=1, metavar="N", help="So many runs, with seeds counting up.")
@click.option("--same-seed", is_flag=True, help="With --repeat: the same seed each time.")
@click.option("--env", multiple=True, metavar="NAME[=VALUE]",
              help="A variable of the scenario; NAME alone hands over this shell's. Repeatable.")
@click.option("--target-env", multiple=True, metavar="NAME=VALUE", help="A variable of the application; repeatable.")
@click.option("--docker-image", metavar="IMG", help="A local image for the application; never pulled.")
@click.option("--policy", metavar="NAME|FILE", shell_complete=policies, help="The application's policy.")
@click.option("--hooks-on-network", is_flag=True, help="With --target: the scenario's own commands get it too.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the run to this new directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(scenario: str, seed: int | None, recorded: str | None, env: tuple[str, ...], out: Path | None,
            as_json: bool, quiet: bool, policy: str | None, hooks_on_network: bool, repeat: int, same_seed: bool,
            **options: Any) -> None:
    """Run SCENARIO, a directory with a manifest.json as LiteTraffic has it, against an application.

    Application and k6 run in containers of their own, which share loopback and nothing else. Exit code: 0 pass, 1 an
    assertion failed, 2 nothing was run, 3 inconclusive or in error.
    """
    with ending(as_json=as_json):
        earlier = read_recorded(recorded) if recorded is not None else None
        if seed is None:
            seed = earlier.seed or 0 if earlier is not None else 0
        request = LoadRequest(scenario, _application(options), seed=seed, env=env, policy=policy,
                              hooks_on_network=hooks_on_network, recorded=earlier)
        with page_writer() as write_page:
            if repeat == 1:
                done = _performed(settle_load(request), out, write_page, quiet=quiet)
                _print(done, as_json=as_json)
                write_page(done.directory)
                code = done.result.exit_code
            else:
                with RunProgress(repeat, quiet=quiet) as progress:
                    series = repeat_scenario(request, repeat, same_seed=same_seed, out=out,
                                             progress=Progress(progress.judged, write_page.load),
                                             finished=lambda run: write_page(run.directory))
                _print_series(series, as_json=as_json)
                code = int(series.exit_code)
        leave(code)


def _application(options: dict[str, Any]) -> Application:
    elsewhere, url, started = options["elsewhere"], options["target_url"], options["target_command"]
    if elsewhere is not None and (url is not None or started is not None):
        raise UsageError("--target: is for an application that runs already",
                         hint="with --target-command say where it listens by --target-url")
    if started is None and elsewhere is None:
        raise UsageError("how is the application started?",
                         hint="--payload DIR --target-command CMD --target-url URL; one that runs already is reached "
                              "by --target URL, which leaves the sandbox")
    return Application(payload=options["payload"], command=started, url=elsewhere or url, ready=options["ready"],
                       ready_status=options["ready_status"], ready_timeout=options["ready_timeout"],
                       image=options["docker_image"], env=options["target_env"])


def _performed(settled: SettledLoad, out: Path | None, page: PageWriter, *, quiet: bool) -> Replayed:
    with RunProgress(1, quiet=quiet) as progress:
        return verify_scenario(settled, out=out, progress=Progress(progress.judged, page.load))


def _print_series(series: Series, *, as_json: bool) -> None:
    if as_json:
        tell(json.dumps(series.document, sort_keys=True))
        return
    document = series.document
    same = "all alike" if document["consistent"] else "not all alike"
    headline = f"{series.verdict.upper().replace('_', ' ')}: {document['completed_runs']} runs, {same}"
    tell(painted(headline, VERDICT_COLOURS[series.verdict], on=colours(sys.stdout)))
    for run in series.runs:
        tell(f"seed {run.result.seed:<8}{run.result.verdict:<13}{counted(run.result)}")
    for name, spread in document["dispersion"].items():
        if spread is not None:
            tell(f"{name:<21}{spread['min']:g} to {spread['max']:g}, mean {spread['mean']:g}")
    tell(f"evidence     {printable(str(series.file))}")


def _print(done: Replayed, *, as_json: bool) -> None:
    if as_json:
        tell(done.result.told_json())
        return
    headline, rest = render_text(done.result, str(done.directory)).split("\n", 1)
    tell(f"{painted(headline, VERDICT_COLOURS[done.result.verdict], on=colours(sys.stdout))}\n{rest}")
