"""``runner shrink``: the shortest session that still shows a failure."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from runner.cli.completing import policies, runs
from runner.cli.outcome import ending, leave, tell
from runner.cli.page import page_writer
from runner.cli.session_replay import SessionChoice, plan_text, settle_replay
from runner.cli.sessions import application_options, take_application
from runner.cli.shrinking import ShrinkProgress, document_of, exit_code_of, text_of
from runner.cli.terminal import colours
from runner.controller.bounds import Network
from runner.controller.sessions.request import SettledSession
from runner.controller.shrinking.incidents import chosen_failures
from runner.controller.shrinking.journal import name_of, open_journal
from runner.controller.shrinking.keeping import keeper
from runner.controller.shrinking.sandbox import SandboxPlayer, prepared
from runner.controller.shrinking.shrink import MAX_JOBS, MAX_RUNS, Shrunk, shrink_each
from runner.controller.shrinking.trials import Trials
from runner.errors import UsageError, printable
from runner.evidence.database import make_root, store_errors, store_root
from runner.evidence.files import check_outside
from runner.incidents.model import Failure
from runner.sandbox.backends import open_pair_backend

_JOURNALS = "shrinks"


@click.command("shrink", context_settings={"show_default": True})
@click.argument("run_dir", metavar="RUN_DIR", shell_complete=runs)
@application_options
@click.option("--yes", is_flag=True, help="Run it. Without this, only the plan is shown.")
@click.option("--identity", metavar="ID|TEXT", help="The failure to shrink, by the beginning of its ID or a part of "
                                                    "its name; all recorded failures in turn if not said.")
@click.option("--jobs", type=click.IntRange(1, MAX_JOBS), default=1, metavar="N", help="Candidates at the same time.")
@click.option("--runs", "times", type=click.IntRange(1, MAX_RUNS), default=1, metavar="K",
              help="For a failure that comes and goes: fresh runs until a candidate has shown it, at most K.")
@click.option("--timeout", type=float, metavar="SEC", help="Seconds per run, instead of what its steps need.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of the application; repeatable.")
@click.option("--docker-image", metavar="IMG", help="A local image for the application; never pulled.")
@click.option("--browser-image", metavar="IMG", help="A local image of yours for the browser; never pulled.")
@click.option("--docker-network", "network", type=click.Choice(["bridge", "host"]),
              help="For an application that runs elsewhere: an explicit opt-in to a network.")
@click.option("--policy", metavar="NAME|FILE", shell_complete=policies, help="The application's policy.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Write the shortest session to this new directory; of several failures, one in it for each.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(run_dir: str, yes: bool, identity: str | None, jobs: int, times: int, timeout: float | None,
            browser_image: str | None, network: Network | None, policy: str | None, out: Path | None, as_json: bool,
            quiet: bool, **options: Any) -> None:
    """Shrink the session in RUN_DIR to the fewest steps and faults that still show its failure.

    RUN_DIR is a run directory of `runner chaos` or of LOKI, the ID of a run, or `latest`. Each candidate is played in a
    fresh sandbox; what was seen is kept, so the same command goes on where it was interrupted. Exit code: 0 shrunk,
    1 the session does not show a failure, 2 nothing could be played, 3 undecided, or not confirmed in the end.
    """
    with ending(as_json=as_json):
        choice = SessionChoice(report=run_dir, runs=1, jobs=1, timeout=timeout, policy=policy, network=network,
                               browser_image=browser_image, video=False)
        settled = settle_replay(choice, take_application(options))
        assert settled.incident is not None
        failures = chosen_failures(settled.incident, identity)
        _check_places(settled, out)
        if not yes:
            if not as_json:
                click.echo(plan_text(settled))
            raise UsageError("nothing was run: this session is not trusted yet", hint="add --yes to run the plan")
        with page_writer() as write_page:
            with ShrinkProgress(quiet=quiet) as progress:
                done = _shrink(settled, failures, progress, jobs=jobs, runs=times, out=out)
            for each in done:
                if each.directory is not None:
                    write_page(each.directory)
        if as_json:
            tell(json.dumps(document_of(settled.incident, done), sort_keys=True))
        else:
            tell(text_of(done, colour=colours(sys.stdout)))
        leave(exit_code_of(done))


def _shrink(settled: SettledSession, failures: tuple[Failure, ...], progress: ShrinkProgress, *, jobs: int, runs: int,
            out: Path | None) -> list[Shrunk]:
    assert settled.incident is not None
    backend = open_pair_backend()
    with ExitStack() as stack:
        bench = stack.enter_context(prepared(settled, backend, jobs))
        terms = bench.terms()
        journal = stack.enter_context(open_journal(_journals() / name_of(terms), terms))
        trials = stack.enter_context(Trials(SandboxPlayer(bench), journal, jobs=jobs, runs=runs,
                                            watch=progress.tried))
        keep = keeper(bench, runs, out, several=len(failures) > 1)
        return list(shrink_each(settled.incident, failures, trials, keep))


def _check_places(settled: SettledSession, out: Path | None) -> None:
    """Nothing is written into the payload, and nothing is written over. Raises UsageError."""
    if settled.payload is not None:
        check_outside(store_root(), settled.payload,
                      "call runner from outside the payload, or set RUNNER_STORE to a directory elsewhere")
        if out is not None:
            check_outside(out.absolute(), settled.payload, "choose a place outside with --out")
    if out is not None and out.exists():
        raise UsageError(f"--out {printable(str(out))}: exists already",
                         hint="name a new directory; what was tried is remembered")


def _journals() -> Path:
    """Where journals are: in the store. Raises UsageError."""
    folder = store_root() / _JOURNALS
    with store_errors(store_root()):
        make_root(store_root())
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder
