"""``runner chaos``: let a persona play with an application, and keep what goes wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from runner.cli.completing import policies
from runner.cli.outcome import ending, leave, tell
from runner.cli.page import page_writer
from runner.cli.progress import RunProgress
from runner.cli.sessions import application_options, take_application
from runner.cli.terminal import VERDICT_COLOURS, colours, painted
from runner.controller.line import Progress, Replayed
from runner.controller.sessions.chaos import ChaosRequest, chaos_job
from runner.controller.sessions.record import record_session
from runner.controller.sessions.request import SessionRequest, settle_session
from runner.errors import ExitCode
from runner.reports.text import render_text

PERSONAS = ("rage-clicker", "novice-chaotic", "network-tormentor", "adversary", "swarm", "none")


@click.command("chaos", context_settings={"show_default": True})
@application_options
@click.option("--persona", type=click.Choice(PERSONAS), default="rage-clicker", help="Who plays.")
@click.option("--seed", type=int, metavar="N", help="The same seed and application give the same trace; drawn, and "
                                                    "told, if not said.")
@click.option("--steps", type=int, metavar="N", help="How many steps.")
@click.option("--duration", type=float, metavar="SEC", help="How long, by the page's own clock; 5 if neither is said.")
@click.option("--device", metavar="NAME", help="A device of Playwright's catalogue, such as 'iPhone 15'.")
@click.option("--orientation", type=click.Choice(["portrait", "landscape"]), default="portrait", help="How it is held.")
@click.option("--browser", type=click.Choice(["chromium", "firefox", "webkit"]), default="chromium",
              help="firefox and webkit need an image that brings them.")
@click.option("--api-chaos/--no-api-chaos", default=None, help="Faults in answers of APIs; by persona if not said.")
@click.option("--auth-chaos/--no-auth-chaos", default=None, help="Faults in credentials; with --api-chaos if not said.")
@click.option("--state-chaos/--no-state-chaos", default=None, help="Faults in stored state; by persona if not said.")
@click.option("--fault-rate", type=float, default=0.3, metavar="RATE", help="How many answers get a fault, 0 to 1.")
@click.option("--concurrency", type=int, default=1, metavar="N", help="A race of N lanes instead of a persona.")
@click.option("--selector", metavar="CSS", help="What the lanes click; each lane's first button if not said.")
@click.option("--own-browsers", is_flag=True, help="Each lane has a whole browser, not only a context of its own.")
@click.option("--video/--no-video", default=True, help="Keep replay.webm.")
@click.option("--fail-on-find", is_flag=True, help="Exit code 1 if something was found.")
@click.option("--timeout", type=float, metavar="SEC", help="Seconds for the session, instead of what its steps need.")
@click.option("--env", multiple=True, metavar="NAME=VALUE", help="A variable of the application; repeatable.")
@click.option("--docker-image", metavar="IMG", help="A local image for the application; never pulled.")
@click.option("--browser-image", metavar="IMG", help="A local image of yours for the browser; never pulled.")
@click.option("--docker-network", "network", type=click.Choice(["bridge", "host"]),
              help="For an application that runs elsewhere: an explicit opt-in to a network.")
@click.option("--policy", metavar="NAME|FILE", shell_complete=policies, help="The application's policy.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Write the run to this new directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the evidence as JSON.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(fail_on_find: bool, timeout: float | None, policy: str | None, network: Any, browser_image: str | None,
            out: Path | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Record a browser chaos session against an application that runs in the sandbox.

    The run directory holds incident.json, network.har, replay.webm, trace.zip, report.html and repro_test.py;
    `runner replay DIR` plays it again. Exit code: 0 recorded, whatever was found; 1 with --fail-on-find if something
    was; 2 nothing could be recorded; 3 the session did not come to its end.
    """
    with ending(as_json=as_json):
        application = take_application(options)
        job = chaos_job(ChaosRequest(**options), application)
        settled = settle_session(SessionRequest(application, policy=policy, network=network, timeout=timeout,
                                                browser_image=browser_image), job)
        with page_writer() as write_page:
            with RunProgress(1, quiet=quiet) as progress:
                done = record_session(settled, out=out, progress=Progress(progress.judged, write_page.load))
            _print(done, as_json=as_json)
            write_page(done.directory)
        code = ExitCode(done.result.exit_code)
        leave(ExitCode.NOT_REPRODUCED if code is ExitCode.OK and fail_on_find and _found(done) else code)


def _found(done: Replayed) -> bool:
    return done.result.session is not None and bool(done.result.session.failures)


def _print(done: Replayed, *, as_json: bool) -> None:
    if as_json:
        tell(done.result.told_json())
        return
    headline, rest = render_text(done.result, str(done.directory)).split("\n", 1)
    tell(f"{painted(headline, VERDICT_COLOURS[done.result.verdict], on=colours(sys.stdout))}\n{rest}")
