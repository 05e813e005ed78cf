"""``runner runs rm`` and ``runner runs prune``."""

from __future__ import annotations

import json
import os
import sys

import click

from runner.cli.completing import runs
from runner.cli.outcome import ending
from runner.cli.runs.stores import moment_before, needed_store, opened_store
from runner.errors import UsageError, printable
from runner.evidence.index import Index, Row, resolve


@click.command("rm")
@click.argument("names", nargs=-1, required=True, metavar="RUN...", shell_complete=runs)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def remove_command(names: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Remove replays from the index, and their run directories, wherever --out put them.

    A directory that is not the one that was stored is left alone, and so is its replay.
    """
    with ending(as_json=as_json), opened_store() as index:
        store = needed_store(index)
        rows = list(dict.fromkeys(_named(store, run) for run in names))
        if not yes and not _agreed(rows):
            click.echo("nothing was removed", err=True)
            return
        sizes = [_size(row) for row in rows]
        _remove(store, rows)
        _say(rows, sum(sizes), dry_run=False, as_json=as_json)


@click.command("prune")
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N finished replays.")
@click.option("--older-than", metavar="AGE|DATE", help="Only those begun before: 30d, 12h, a date (UTC).")
@click.option("--killed", is_flag=True, help="Those without a result as well: killed, failed, interrupted.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print what was removed as JSON.")
def prune_command(keep: int | None, older_than: str | None, killed: bool, dry_run: bool, as_json: bool) -> None:
    """Remove old replays of this store. With both --keep and --older-than, those that are neither new nor recent.

    Run directories that --out put elsewhere are left alone; `runner runs rm` removes them by name.
    """
    with ending(as_json=as_json):
        if keep is None and older_than is None and not killed:
            raise UsageError("nothing says what to remove", hint="add --keep N, --older-than AGE or --killed")
        before = moment_before(older_than) if older_than is not None else None
        with opened_store() as index:
            rows = _old(index, keep, before, killed) if index is not None else []
            size = sum(_size(row) for row in rows)
            if index is not None and not dry_run:
                _remove(index, rows)
        _say(rows, size, dry_run=dry_run, as_json=as_json)


def _named(index: Index, reference: str) -> Row:
    row = resolve(index, reference)
    if row is None:
        raise UsageError(f"{printable(reference)}: not a run of this store",
                         hint="a directory that the store does not know is yours to remove")
    return row


def _old(index: Index, keep: int | None, before: str | None, killed: bool) -> list[Row]:
    """Newest first. Those without a result are not counted by ``keep``."""
    finished = index.rows("state = 'finished'") if keep is not None or before is not None else []
    rows = finished[keep or 0:]
    if killed:
        rows += index.rows("state NOT IN ('running', 'finished')")
    return [row for row in rows if (before is None or row.started < before) and _in_store(index, row)]


def _in_store(index: Index, row: Row) -> bool:
    from runner.evidence.removal import place_of  # start-up time: a listing loads this module too

    return row.path.parent == index.root / "runs" or place_of(row) is None


def _agreed(rows: list[Row]) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(f"{len(rows)} runs would be removed", hint="add --yes")
    for row in rows:
        click.echo(f"{printable(row.run_id)}  {printable(row.directory)}", err=True)
    return click.confirm("Remove?", err=True)


def _size(row: Row) -> int:
    """Bytes of the run's files. Those of one without a result are counted now."""
    from runner.evidence.recovery import size_of  # start-up time: a listing loads this module too
    from runner.evidence.removal import place_of

    place = place_of(row)
    if row.bytes is not None or place is None:
        return row.bytes or 0
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return 0  # the removal tells why it cannot be looked at
    try:
        return size_of(descriptor)
    finally:
        os.close(descriptor)


def _remove(index: Index, rows: list[Row]) -> None:
    from runner.evidence.removal import remove_run  # start-up time: a listing loads this module too

    for row in rows:
        remove_run(index, row)


def _say(rows: list[Row], size: int, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"ok": True, "dry_run": dry_run, "runs": [row.run_id for row in rows]}, sort_keys=True))
        return
    said = "would be removed" if dry_run else "removed"
    names = [printable(row.run_id) for row in rows]
    click.echo("\n".join([*names, f"{len(rows)} runs, {size} bytes {said}"]))
