"""``runner diff``: two runs of one load scenario, beside each other."""

from __future__ import annotations

import json
from typing import Any

import click

from runner.cli.completing import directories
from runner.cli.outcome import ending, leave, tell
from runner.errors import UsageError, printable
from runner.reports.loads.compare import EXIT_CODES, Comparison, compare_loads
from runner.reports.loads.runs import read_load_run


@click.command("diff")
@click.argument("baseline", shell_complete=directories)
@click.argument("candidate", shell_complete=directories)
@click.option("--max-p95-regression-percent", "limit", type=float, metavar="P",
              help="Fail if p95 grew by more, and by more than chance explains.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(baseline: str, candidate: str, limit: float | None, as_json: bool) -> None:
    """Compare run CANDIDATE with run BASELINE of the same load scenario.

    Directories of `runner verify` or of LiteTraffic. Exit code: 0 no worse, 1 worse, 2 no runs, 3 inconclusive.
    """
    with ending(as_json=as_json):
        if limit is not None and not 0 <= limit <= 10_000:
            raise UsageError(f"--max-p95-regression-percent {limit:g}: expected 0 to 10000")
        found = compare_loads(read_load_run(baseline), read_load_run(candidate), limit)
        tell(json.dumps(found.document, sort_keys=True) if as_json else _text(found))
        leave(EXIT_CODES[found.verdict])


def _text(found: Comparison) -> str:
    document = found.document
    p95 = document["performance"]["p95"]
    lines = [f"{found.verdict.upper()}: {document['baseline_run_id']} -> {document['candidate_run_id']}",
             f"verdict      {document['correctness']['baseline']} -> {document['correctness']['candidate']}"]
    if "change_percent" in p95:
        low, high = p95["interval_percent"] or (None, None)
        chance = f", by chance {low:+.1f} to {high:+.1f} %" if low is not None and high is not None else ""
        change = f"{p95['change_percent']:+.1f} %{chance}"
        lines.append(f"p95          {p95['baseline']:g} -> {p95['candidate']:g} ms: {change}")
    lines += [f"{label:<13}{_pair(document['performance'][name])}" for label, name in
              (("failed", "http_error_rate"), ("requests/s", "http_reqs_per_second"))]
    lines += [f"why          {reason}" for reason in found.reasons]
    return "\n".join(map(printable, lines))


def _pair(pair: dict[str, Any]) -> str:
    return " -> ".join("-" if value is None else f"{value:g}" for value in (pair["baseline"], pair["candidate"]))
