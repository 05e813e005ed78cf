"""``runner runs``: the store of replays: what is there, one of them in full, and removing them."""

from __future__ import annotations

import click

from runner.cli.runs.listing import list_command
from runner.cli.runs.removing import prune_command, remove_command
from runner.cli.runs.showing import open_command, show_command


@click.group("runs")
def command() -> None:
    """List, show, open and remove the replays of this store.

    RUN is an id, the beginning of one, `latest`, or a run directory. The store is `.runner` in the current
    directory, or what RUNNER_STORE names.
    """


for each in (list_command, show_command, open_command, remove_command, prune_command):
    command.add_command(each)
