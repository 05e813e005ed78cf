"""``runner gc``: remove what an earlier crash left on the engine."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from runner.cli.outcome import ending
from runner.cli.verbose import telling, verbose_option
from runner.errors import UsageError, printable
from runner.evidence.database import is_store, store_root
from runner.evidence.leftovers import sweep_directories


@click.command("gc", context_settings={"show_default": True})
@click.option("--grace", default=30.0, metavar="SEC", help="Leave alone what is younger than this.")
@click.option("--runs-dir", metavar="DIR", help="Another place where --out put evidence.", show_default=False)
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
@verbose_option
def command(grace: float, runs_dir: str | None, as_json: bool, verbose: bool) -> None:
    """Remove our containers, volumes and temporary directories that no living controller owns.

    Evidence goes only where no run was confirmed; `runner runs rm` and `prune` remove the rest.
    """
    from runner.sandbox.backends.docker.engine import connect  # start-up time: the SDK is slow to load
    from runner.sandbox.backends.docker.sweep import sweep

    with ending(as_json=as_json), telling(verbose=verbose):
        if not grace >= 0:
            raise UsageError(f"--grace {grace}: expected seconds, 0 or more")
        folders = sweep_directories(Path(tempfile.gettempdir()), Path(runs_dir or store_root() / "runs"), grace)
        folders += _known_to_the_store(grace)
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


def _known_to_the_store(grace: float) -> tuple[str, ...]:
    """What dead controllers left wherever ``--out`` put it, and removals that were cut short."""
    from runner.evidence.index import Index  # start-up time: SQLite
    from runner.evidence.recovery import reconcile, sweep_known
    from runner.evidence.removal import finish_removals

    if not is_store(store_root()):
        return ()
    with Index(store_root()) as index:
        reconcile(index)
        finish_removals(index)
        return sweep_known(index, grace)
