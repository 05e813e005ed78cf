"""What a report claims, as plain values: nothing in it was proved or run. ``runner report show`` prints it.

The document's schema is ``runner.claims/1``. Texts are the report's own: whoever prints them makes them safe.
"""

from __future__ import annotations

from typing import Final

from runner.case import RecordedPayload, RequestedLimits
from runner.oracles.contract import Signature
from runner.reports.claims.summary import oracle_mode
from runner.sources.load import ParsedReport
from runner.sources.native import CommandReport
from runner.sources.repomin import RepominReport
from runner.sources.wording import describe

SCHEMA: Final = "runner.claims/1"
Claims = dict[str, dict[str, object] | None]
"""Groups of fields by name; a group that a format does not have is ``None``."""


def claims_of(report: ParsedReport) -> Claims:
    """Every claim of a checked report."""
    model = report.model
    claims = _repomin(model) if isinstance(model, RepominReport) else _native(model)
    origin = {"path": report.path, "sha256": report.sha256, **(claims["report"] or {})}
    return {**claims, "report": origin, "payload": _payload(report.payload, claims["payload"] or {})}


def _payload(recorded: RecordedPayload, counts: dict[str, object]) -> dict[str, object]:
    return {"files": recorded.files, "bytes": recorded.bytes, "entries": counts.get("entries"),
            "scheme": recorded.scheme, "exact": recorded.exact, "content": recorded.content,
            "modes": recorded.modes is not None}


def _native(report: CommandReport) -> Claims:
    execution, image, work = report.execution, report.execution.image, report.workload
    return {
        "report": {"format": report.schema_, "kind": report.kind, "created": report.created,
                   "tool": f"{report.tool.name} {report.tool.version}"},
        "command": {"text": work.workload().display, "shell": work.shell is not None, "cwd": work.cwd,
                    "artifacts": list(work.artifacts)},
        "expects": {"mode": oracle_mode(report), "exit_code": report.oracle.exit_code, "match": report.oracle.match,
                    "signature": _signature(report.oracle.contract().signature)},
        "environment": {"names": list(report.environment.names), "sha256": report.environment.sha256},
        "payload": {"entries": report.payload.entries},
        "execution": {"backend": execution.backend, "network": execution.network,
                      "timeout_seconds": execution.timeout_seconds, "policy": execution.policy.name,
                      "policy_sha256": execution.policy.sha256},
        "image": image.model_dump(mode="json") if image else None,
        "limits": execution.limits.model_dump(mode="json"),
        "baseline": report.baseline.model_dump(mode="json"),
        "holdout": None, "reduction": None}


def _repomin(report: RepominReport) -> Claims:
    execution, holdout, spec, raw = report.execution, report.holdout, report.failure_spec, report.execution.raw
    image: dict[str, object] = {"name": _said(raw.get("image")), "id": _said(raw.get("image_id"))}
    return {
        "report": {"format": "ReproMin report, schema version 1", "kind": "command", "created": None,
                   "tool": None if report.repomin_version is None else f"ReproMin {report.repomin_version}"},
        "command": {"text": report.command, "shell": True, "cwd": ".", "artifacts": []},
        "expects": {"mode": oracle_mode(report), "exit_code": spec.exit_code if spec else None,
                    "match": report.failure_match, "signature": _signature(report.signature)},
        "environment": {"names": sorted(execution.environment_names), "sha256": execution.environment_sha256},
        "payload": {},
        "execution": {"backend": execution.backend, "network": _said(raw.get("network")),
                      "timeout_seconds": execution.timeout_seconds, "policy": None, "policy_sha256": None},
        "image": image if any(image.values()) else None,
        "limits": _limits(execution.limits),
        "baseline": {"runs": None, "matched": None, "exit_code": report.baseline_exit_code},
        "holdout": {"status": holdout.status, "planned_runs": holdout.planned_runs,
                    "completed_runs": holdout.completed_runs, "passes": holdout.passes,
                    "exact_rate_gate_passed": holdout.exact_rate_gate_passed},
        "reduction": {"source_files": report.source.files, "source_bytes": report.source.bytes,
                      "attempts": report.attempts, "accepted_mutations": report.accepted_mutations,
                      "cache_hits": report.cache_hits, "budget_exhausted": bool(execution.budget_exhausted),
                      "final_exit_code": report.final_exit_code}}


def _said(value: object) -> str | None:
    """A field that ReproMin's validator leaves unchecked."""
    if value is None or isinstance(value, str):
        return value
    return describe(value)


def _limits(asked: RequestedLimits) -> dict[str, object]:
    return {"memory": asked.memory, "pids": asked.pids, "cpus": asked.cpus, "tmp": asked.tmp, "work": asked.work}


def _signature(signature: Signature | None) -> dict[str, object] | None:
    if signature is None:
        return None
    if signature.kind == "process":
        return {"kind": signature.kind, "process_kind": signature.process_kind, "code": signature.code,
                "name": signature.name}
    return {"kind": signature.kind, "class": signature.class_name, "message": signature.message,
            "frames": list(signature.frames)}
