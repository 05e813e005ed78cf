"""``runner report compare``: 2 to 32 reports side by side, by ReproMin's rules. It describes and never judges.

A row holds counts and states, so that a comparison can be shared. Settings that may be private are compared by
their digests only, and show up as warnings that name no value. A native report has the row that it would have if
``record`` had written it for ReproMin: nothing was reduced, so what went in is what came out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from runner.errors import UsageError, printable
from runner.reports.claims.summary import oracle_mode, safe_version
from runner.reports.compare.context import context_of, warnings_of
from runner.reports.scalars import ratio, rounded
from runner.sources.load import ParsedReport
from runner.sources.repomin import RepominReport

MOST_REPORTS = 32
Row = dict[str, Any]

NUMERIC = ("source_files", "source_bytes", "output_files", "output_bytes", "file_retention_ratio",
           "byte_retention_ratio", "attempts", "accepted_mutations", "cache_hits", "holdout_planned_runs",
           "holdout_completed_runs", "holdout_passes")
CATEGORICAL = ("repomin_version", "backend", "oracle_mode", "budget_exhausted", "holdout_status", "phase_coverage")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_MOST_DELTA_BITS = 4096


def labels_for(count: int, given: Sequence[str]) -> tuple[str, ...]:
    """One label a report: those given, else run-1, run-2… Raises UsageError, also for a wrong count of reports."""
    if not 2 <= count <= MOST_REPORTS:
        raise UsageError(f"{count} reports: expected 2 to {MOST_REPORTS}")
    if not given:
        return tuple(f"run-{number}" for number in range(1, count + 1))
    if len(given) != count:
        raise UsageError(f"{len(given)} labels for {count} reports", hint="give --label once for each, in order")
    for label in given:
        if not _LABEL.fullmatch(label):
            raise UsageError(f"--label {printable(label[:80])}: expected 1 to 64 letters, digits, '.', '_' or '-',"
                             " the first a letter or digit")
    if len(set(given)) != count:
        raise UsageError("two reports have the same --label")
    return tuple(given)


def compare(reports: Sequence[ParsedReport], labels: Sequence[str]) -> dict[str, Any]:
    """The comparison as plain values. Pure."""
    runs = [_row(report, index, label) for index, (report, label) in enumerate(zip(reports, labels, strict=True), 1)]
    contexts = [context_of(report, row) for report, row in zip(reports, runs, strict=True)]
    return {"comparison_schema_version": 1, "descriptive_only": True, "run_count": len(runs), "runs": runs,
            "deltas": [delta(left, right) for left, right in pairwise(runs)],
            "context_warnings": warnings_of(contexts)}


def delta(left: Row, right: Row) -> dict[str, Any]:
    """What changed from one row to the next: later minus earlier."""
    return {"from_index": left["index"], "from_label": left["label"],
            "to_index": right["index"], "to_label": right["label"],
            "numeric_deltas": {name: _difference(left[name], right[name]) for name in NUMERIC},
            "changed_fields": [name for name in CATEGORICAL if left[name] != right[name]]}


def _difference(left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    if isinstance(left, int) and isinstance(right, int):
        value = right - left
        return value if value.bit_length() <= _MOST_DELTA_BITS else None
    return rounded(right - left)


def _row(report: ParsedReport, index: int, label: str) -> Row:
    row = {"index": index, "label": label, "backend": report.model.execution.backend,
           "oracle_mode": oracle_mode(report.model)}
    return row | (_reduced(report.model, report) if isinstance(report.model, RepominReport) else _whole(report))


def _reduced(model: RepominReport, report: ParsedReport) -> Row:
    source, output, holdout = model.source, model.output.counts, model.holdout
    phases: Any = report.data["phase_statistics"]
    return {"repomin_version": safe_version(model.repomin_version),
            **_sizes((source.files, source.bytes), (output.files, output.bytes)),
            "attempts": model.attempts, "accepted_mutations": model.accepted_mutations,
            "cache_hits": model.cache_hits, "budget_exhausted": bool(model.execution.budget_exhausted),
            "holdout_status": holdout.status, "holdout_planned_runs": holdout.planned_runs,
            "holdout_completed_runs": holdout.completed_runs, "holdout_passes": holdout.passes,
            "phase_coverage": phases["coverage"]}


def _whole(report: ParsedReport) -> Row:
    counts = (report.payload.files, report.payload.bytes)
    return {"repomin_version": None, **_sizes(counts, counts), "attempts": 0, "accepted_mutations": 0,
            "cache_hits": 0, "budget_exhausted": False, "holdout_status": "not_requested",
            "holdout_planned_runs": 0, "holdout_completed_runs": 0, "holdout_passes": 0,
            "phase_coverage": "complete"}


def _sizes(source: Iterable[int], output: Iterable[int]) -> Row:
    (files, size), (kept_files, kept_size) = source, output
    return {"source_files": files, "source_bytes": size, "output_files": kept_files, "output_bytes": kept_size,
            "file_retention_ratio": ratio(kept_files, files), "byte_retention_ratio": ratio(kept_size, size)}
