"""``runner gc``: remove what an earlier crash left on the engine."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from runner.cli.outcome import ending
from runner.errors import printable
from runner.evidence.leftovers import sweep_directories
from runner.evidence.store import DEFAULT_ROOT


@click.command("gc", context_settings={"show_default": True})
@click.option("--grace", default=30.0, metavar="SEC", help="Leave alone what is younger than this.")
@click.option("--runs-dir", default=str(DEFAULT_ROOT), metavar="DIR", help="Where evidence is kept.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def command(grace: float, runs_dir: str, as_json: bool) -> None:
    """Remove our containers, volumes and temporary directories that no living controller owns."""
    from runner.sandbox.backends.docker.engine import connect  # start-up time: the SDK is slow to load
    from runner.sandbox.backends.docker.sweep import sweep

    with ending(as_json=as_json):
        folders = sweep_directories(Path(tempfile.gettempdir()), Path(runs_dir), grace)
        for name in () if as_json else folders:
            click.echo(f"removed {printable(name)}")
        swept = sweep(connect(), grace)
        if as_json:
            click.echo(json.dumps({"containers": swept.containers, "directories": folders,
                                   "volumes": swept.volumes}, sort_keys=True))
            return
        for name in (*swept.containers, *swept.volumes):
            click.echo(f"removed {printable(name)}")
        click.echo(f"{len(swept.containers)} containers, {len(swept.volumes)} volumes and {len(folders)} "
                   "directories removed")
