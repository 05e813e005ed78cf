"""``runner gc``: remove what an earlier crash left on the engine."""

from __future__ import annotations

import json

import click

from runner.cli.outcome import ending


@click.command("gc", context_settings={"show_default": True})
@click.option("--grace", default=30.0, metavar="SEC", help="Leave alone what is younger than this.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def command(grace: float, as_json: bool) -> None:
    """Remove our containers and volumes that no living controller owns."""
    from runner.sandbox.backends.docker.engine import connect  # start-up time: the SDK is slow to load
    from runner.sandbox.backends.docker.sweep import sweep

    with ending(as_json=as_json):
        swept = sweep(connect(), grace)
        if as_json:
            click.echo(json.dumps({"containers": swept.containers, "volumes": swept.volumes}, sort_keys=True))
            return
        for name in (*swept.containers, *swept.volumes):
            click.echo(f"removed {name}")
        click.echo(f"{len(swept.containers)} containers and {len(swept.volumes)} volumes removed")
