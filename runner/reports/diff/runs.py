"""What differs between two replays: a pure function of their evidence.

``same`` is about everything but the time and memory that runs took and what names a replay (its id, its times, its
place). Output is compared by digest first, and shown for few runs only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from runner.evidence.check import Evidence
from runner.evidence.result import Result, Sample
from runner.reports.diff.fields import Rows, differing
from runner.reports.diff.output import diff_outputs
from runner.reports.diff.reports import SCHEMA
from runner.reports.diff.sessions import session_sections
from runner.reports.session_words import is_recording

MOST_LISTED = 200
_METRICS = ("wall_seconds", "cpu_seconds", "peak_memory")


def diff_runs(a: Evidence, b: Evidence) -> dict[str, Any]:
    """The difference as plain values. Raises EvidenceAltered when output is no longer what was kept."""
    ours, theirs = a.result, b.result
    sections = {name: differing(_fields(ours, name), _fields(theirs, name)) for name in _FIELDS}
    sections |= session_sections(ours, theirs)
    sections["outcomes"] = _outcomes(ours, theirs)
    changes = _only(_changes(ours), _changes(theirs))
    artifacts = _only(_artifacts(ours), _artifacts(theirs))
    output = diff_outputs(a, b)
    found = {**sections, "changes": changes["a"] or changes["b"], "artifacts": artifacts["a"] or artifacts["b"],
             "output": output["runs"]}
    different = [name for name, value in found.items() if value]
    return {"schema": SCHEMA, "kind": "runs", "a": _side(a), "b": _side(b), "same": not different,
            "different": different, "sections": sections, "timing": _timing(ours, theirs), "changes": changes,
            "artifacts": artifacts, "output": output}


_FIELDS = ("verdict", "runs", "contract", "drift", "report", "payload", "environment", "image", "policy", "engine")


def _fields(result: Result, name: str) -> dict[str, Any]:
    """One section of the comparison as plain values."""
    document = result.model_dump(mode="json", include=_INCLUDED[name])
    if name == "report" and is_recording(result):
        return {key: value for key, value in document.items() if key != "report_sha256"}  # a recording is its own
    if name == "drift":
        return {row.what: f"recorded {row.recorded}, used {row.used}" for row in result.drift}
    if name == "policy":
        effective = {key: value for key, value in result.policy.effective.items() if key != "name"}
        return {**document["policy"], "effective": effective}
    if name in ("image", "engine"):
        return document[name] or {}
    return document


_INCLUDED = {
    "verdict": {"verdict", "exit_code", "warnings", "error", "cleanup"},
    "runs": {"runs", "passes", "reasons"},
    "contract": {"command", "contract", "oracle_mode", "oracle_source", "timeout_seconds", "timeout_source"},
    "drift": {"drift"},
    "report": {"source", "report_sha256", "report_schema_version", "bundle_sha256", "holdout_status"},
    "payload": {"payload_fingerprint", "payload_unchanged", "fingerprint_mode", "expected_fingerprint", "mode_drift"},
    "environment": {"environment_names", "ambient_environment_pinned", "docker_network"},
    "image": {"image"}, "policy": {"policy"}, "engine": {"engine"},
}


def _outcomes(a: Result, b: Result) -> Rows:
    """How many runs ended in which way, where the two differ in it."""
    ours, theirs = Counter(map(_ending, a.samples)), Counter(map(_ending, b.samples))
    return [{"key": ending, "a": ours[ending], "b": theirs[ending]} for ending in sorted(ours | theirs)
            if ours[ending] != theirs[ending]]


def _ending(sample: Sample) -> str:
    parts = [f"{sample.outcome}: {sample.cause}"]
    if sample.signal is not None:
        parts.append(f"signal {sample.signal}")
    elif sample.returncode is not None:
        parts.append(f"code {sample.returncode}")
    if sample.mismatch_reason:
        parts.append(f"{sample.mismatch_reason} does not fit")
    return ", ".join([*parts, *(["a child ran out of memory"] if sample.child_oom else [])])


def _timing(a: Result, b: Result) -> list[dict[str, Any]]:
    return [{"metric": metric, "a": _spread(a, metric), "b": _spread(b, metric)} for metric in _METRICS]


def _spread(result: Result, metric: str) -> dict[str, Any]:
    values = [value for sample in result.samples if (value := getattr(sample, metric)) is not None]
    if not values:
        return {"n": 0, "median": None, "least": None, "most": None}
    return {"n": len(values), "median": median(values), "least": min(values), "most": max(values)}


def _changes(result: Result) -> set[str]:
    """To the payload. The driver's volume of a session holds what it leaves behind."""
    sides = (sample if result.session is None else sample.target for sample in result.samples)
    return {f"{change.kind} {change.path}" + (f" ({change.detail})" if change.detail else "")
            for side in sides if side is not None for change in side.changes}


def _artifacts(result: Result) -> set[str]:
    """Those of a session are another in every run: its outcome has times, and pictures are never alike."""
    if result.session is not None:
        return set()
    return {f"{item.path} {item.sha256}" for sample in result.samples for item in sample.artifacts}


def _only(a: set[str], b: set[str]) -> dict[str, Any]:
    """What only one side has, in order; long lists are cut and the rest is counted."""
    left, left_more = _cut(a - b)
    right, right_more = _cut(b - a)
    return {"a": left, "a_more": left_more, "b": right, "b_more": right_more}


def _cut(found: Iterable[str]) -> tuple[list[str], int]:
    ordered = sorted(found)
    return ordered[:MOST_LISTED], max(len(ordered) - MOST_LISTED, 0)


def _side(evidence: Evidence) -> dict[str, str]:
    return {"run_id": evidence.result.run_id, "started": evidence.result.started,
            "directory": str(evidence.directory)}
