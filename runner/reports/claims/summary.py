"""What ``runner report validate`` prints: counts and states of a valid report, no text that its author chose.

For ReproMin's reports these are exactly the fields of ReproMin's own summary, with their meanings.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from runner.errors import printable
from runner.reports.markup import code
from runner.reports.scalars import display, ratio
from runner.sources.fingerprints import FingerprintMatch
from runner.sources.load import ParsedReport
from runner.sources.native import CommandReport
from runner.sources.repomin import RepominReport

REPOMIN_SUMMARY_VERSION = 2
NATIVE_SUMMARY_VERSION = 1
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){2}[A-Za-z0-9._+-]*", re.ASCII)
_LONGEST_VERSION = 128
_PATHS = frozenset({"report", "payload"})
_FIRST = ("valid", "summary_schema_version", "schema_version", "repomin_version", "tool_version", "kind", "backend",
          "oracle_mode")
_LAST = ("payload_checked", "payload_fingerprint_mode", "payload_fingerprint_verified")
_LEGEND = ("The report keeps the rules of its format. That says nothing of the command in it, which was not run, and "
           "nothing of who wrote it.")


def safe_version(value: object) -> str | None:
    """A version if it looks like one and is short, so that no other text travels with a summary."""
    if isinstance(value, str) and len(value) <= _LONGEST_VERSION and _VERSION.fullmatch(value):
        return value
    return None


def oracle_mode(report: RepominReport | CommandReport) -> str:
    """ReproMin's words of its ``validate`` and ``compare``; an empty pattern counts as one here."""
    if isinstance(report, CommandReport):
        contract = report.oracle.contract()
        match, exit_code, signature = contract.match, contract.exit_code, contract.signature
    else:
        spec = report.failure_spec
        match, signature = report.failure_match, report.signature
        exit_code = spec.exit_code if spec is not None else None
    if signature is not None:
        return "process_failure" if signature.kind == "process" else f"{signature.kind}_exception"
    if exit_code is not None:
        return "exit_code" if match is None else "match_and_exit_code"
    return "legacy" if match is None else "match"


def summarise(report: ParsedReport, payload: str | None = None, match: FingerprintMatch | None = None,
              ) -> dict[str, object]:
    """The summary as plain values. ``match`` says how far ``payload`` was proved."""
    model = report.model
    body = _repomin(model) if isinstance(model, RepominReport) else _native(model)
    summary = {"valid": True, **body, "report": str(Path(report.path).expanduser().resolve())}
    if payload is not None and match is not None:
        summary |= {"payload": str(Path(payload).expanduser().resolve()), "payload_checked": True,
                    "payload_fingerprint_mode": match.mode, "payload_fingerprint_verified": match.verified}
    return summary


def _repomin(report: RepominReport) -> dict[str, object]:
    source, output, holdout = report.source, report.output.counts, report.holdout
    return {
        "summary_schema_version": REPOMIN_SUMMARY_VERSION, "schema_version": 1,
        "repomin_version": safe_version(report.repomin_version),
        "holdout_status": holdout.status, "holdout_planned_runs": holdout.planned_runs,
        "holdout_completed_runs": holdout.completed_runs, "holdout_passes": holdout.passes,
        "holdout_exact_rate_gate_passed": holdout.exact_rate_gate_passed,
        "backend": report.execution.backend, "oracle_mode": oracle_mode(report),
        "source_files": source.files, "source_bytes": source.bytes,
        "output_files": output.files, "output_bytes": output.bytes,
        "files_removed": source.files - output.files, "bytes_removed": source.bytes - output.bytes,
        "file_retention_ratio": ratio(output.files, source.files),
        "byte_retention_ratio": ratio(output.bytes, source.bytes),
        "attempts": report.attempts, "accepted_mutations": report.accepted_mutations,
        "cache_hits": report.cache_hits, "budget_exhausted": bool(report.execution.budget_exhausted)}


def _native(report: CommandReport) -> dict[str, object]:
    payload, baseline = report.payload, report.baseline
    return {
        "summary_schema_version": NATIVE_SUMMARY_VERSION, "schema_version": report.schema_, "kind": report.kind,
        "tool_version": safe_version(report.tool.version), "created": report.created,
        "backend": report.execution.backend, "oracle_mode": oracle_mode(report),
        "files": payload.files, "bytes": payload.bytes, "entries": payload.entries,
        "environment_names": len(report.environment.names), "artifacts": len(report.workload.artifacts),
        "timeout_seconds": report.execution.timeout_seconds,
        "baseline_runs": baseline.runs, "baseline_matched": baseline.matched,
        "baseline_exit_code": baseline.exit_code}


def summary_json(summary: dict[str, object]) -> str:
    """One line, sorted keys, ASCII."""
    return json.dumps(summary, sort_keys=True)


def summary_text(summary: dict[str, object]) -> str:
    """A line a field, the paths last."""
    lines = [f"VALID: {summary['schema_version']}" if isinstance(summary["schema_version"], str)
             else f"VALID: ReproMin report, schema version {summary['schema_version']}"]
    names = (*_shown(summary), *sorted(_PATHS & summary.keys()))
    lines += [f"{name:<31}{printable(display(summary[name]))}" for name in names]
    return "\n".join(lines)


def summary_markdown(summary: dict[str, object]) -> str:
    """A fixed list of fields, none of which is a path or a text of the author's."""
    rows = [f"| `{name}` | {code(display(summary[name]))} |" for name in _shown(summary)]
    return "\n".join(["# Report validation", "", _LEGEND, "", "| Field | Value |", "| --- | --- |", *rows])


def _shown(summary: dict[str, object]) -> list[str]:
    middle = [name for name in summary if name not in {*_FIRST, *_LAST, *_PATHS}]
    return [name for name in (*_FIRST, *middle, *_LAST) if name in summary]
