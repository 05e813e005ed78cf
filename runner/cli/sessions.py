"""What the commands for browser sessions have in common: options, and what they print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from runner.cli.completing import directories
from runner.incidents.places import INCIDENT_FILE, LATEST

if TYPE_CHECKING:
    from runner.controller.sessions.request import Application

F = TypeVar("F", bound=Callable[..., Any])

_APPLICATION = (
    click.option("--payload", metavar="DIR", shell_complete=directories,
                 help="The directory that the report is about, or the application's files."),
    click.option("--target-command", metavar="CMD", help="What starts the application, in a container of its own."),
    click.option("--target-url", metavar="URL", help="Where the application listens, such as http://127.0.0.1:8000/."),
    click.option("--ready", metavar="PATH", help="The application has started when a GET of PATH is answered; "
                                                  "otherwise when its port takes connections."),
    click.option("--ready-status", type=click.IntRange(100, 599), metavar="N",
                 help="What that GET must answer; anything below 500 if not said."),
    click.option("--ready-timeout", type=float, metavar="SEC", help="How long the application may take to start."),
    click.option("--reset", metavar="PATH", help="A POST there before each run, where the application runs elsewhere."),
)


def application_options(command: F) -> F:
    """Adds the options that name the application under test."""
    for option in reversed(_APPLICATION):
        command = option(command)
    return command




def take_application(options: dict[str, Any]) -> Application:
    """Takes the application's options out of a command's."""
    from runner.controller.sessions.request import Application  # start-up time: most replays are of commands

    return Application(payload=options.pop("payload"), command=options.pop("target_command"),
                       url=options.pop("target_url"), ready=options.pop("ready"),
                       ready_status=options.pop("ready_status"), ready_timeout=options.pop("ready_timeout"),
                       reset=options.pop("reset"), image=options.pop("docker_image"), env=options.pop("env"))


SESSION_OPTIONS = ("target_command", "target_url", "ready", "ready_status", "ready_timeout", "reset", "video",
                   "browser_image")
"""Options of ``replay`` that only browser sessions have."""


def is_session(report: str) -> bool:
    """Whether a replay's argument means a browser session: a directory, ``latest``, the ID of a run, or an
    ``incident.json``.
    """
    path = Path(report)
    if report == LATEST or path.is_dir() or path.name == INCIDENT_FILE:
        return True
    return "/" not in report and report.startswith("run_") and not path.exists()
