"""``runner runs list``. Ten thousand rows cost little: one query, one write, nothing loaded that is not used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from runner.cli.outcome import ending
from runner.cli.runs.stores import moment_before, opened_store
from runner.errors import printable
from runner.evidence.index import STATES, VERDICTS, Index, Row

_COLUMNS = "run_id, coalesce(verdict, state), coalesce(passes, '-') || '/' || runs, started, backend, command"
_WIDE = 100
_MOST = 1_000_000_000


@click.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only replays in this state.")
@click.option("--verdict", type=click.Choice(VERDICTS), help="Only finished ones with this verdict.")
@click.option("--report", metavar="TEXT", help="Only those with TEXT in the report's path or digest.")
@click.option("--since", metavar="DATE|AGE", help="Only those begun at or after a date (UTC), or within 7d, 12h…")
@click.option("--limit", type=click.IntRange(1, _MOST), metavar="N", help="Only the newest N.")
@click.option("--json", "as_json", is_flag=True, help="Print everything that the index knows, as JSON.")
def list_command(as_json: bool, limit: int | None, **wanted: str | None) -> None:
    """List the replays of this store, newest first.

    `killed` means that nobody runs it any more and it has no result; what was confirmed of it is there.
    """
    with ending(as_json=as_json):
        where, values = _filter(**wanted)
        render = _json if as_json else _table
        with opened_store() as index:
            text = render(index, where, values, -1 if limit is None else limit)
        click.echo(text)


def _filter(state: str | None, verdict: str | None, report: str | None,
            since: str | None) -> tuple[str, tuple[object, ...]]:
    """A condition of ours, and a user's words as its values."""
    parts: list[tuple[str, tuple[object, ...]]] = []
    if state is not None:
        parts.append(("state = ?", (state,)))
    if verdict is not None:
        parts.append(("verdict = ?", (verdict,)))
    if report is not None:
        text = report.encode("utf-8", "replace").decode()
        parts.append(("(instr(report, ?) OR instr(report_sha256, ?))", (text, text)))
    if since is not None:
        parts.append(("started >= ?", (moment_before(since),)))
    return " AND ".join(part for part, _ in parts) or "1", tuple(value for _, given in parts for value in given)


def _table(index: Index | None, where: str, values: Sequence[object], limit: int) -> str:
    found = index.select(_COLUMNS, where, values, limit) if index is not None else []
    if not found:
        return "no runs"
    lines = [f"{'RUN':<28}  {'VERDICT':<14}  {'RUNS':>9}  {'WHEN (UTC)':<19}  {'BACKEND':<7}  COMMAND"]
    for run_id, verdict, runs, started, backend, command in found:
        when = started[:19].replace("T", " ")
        text = command if len(command) <= _WIDE else command[:_WIDE - 1] + "…"
        line = f"{run_id:<28}  {verdict:<14}  {runs:>9}  {when:<19}  {backend:<7}  {text}"
        lines.append(line if line.isprintable() else printable(line))
    return "\n".join(lines)


def _json(index: Index | None, where: str, values: Sequence[object], limit: int) -> str:
    rows = index.rows(where, values, limit) if index is not None else []
    return json.dumps({"ok": True, "runs": [row_document(row) for row in rows]}, sort_keys=True)


def row_document(row: Row) -> dict[str, Any]:
    """A row as JSON: paths as text."""
    return {**row._asdict(), "directory": printable(row.directory)}

