"""A draft, written as a ``report.json`` that ReproMin's own validator accepts."""

from __future__ import annotations

from runner.errors import UsageError
from runner.oracles.contract import JavaSignature, ProcessSignature, PythonSignature, Signature
from runner.sources.draft import ReportDraft
from runner.sources.jsontext import canonical_json
from runner.sources.repomin.case import to_case
from runner.sources.repomin.failure import ROOTED_POLICY
from runner.sources.repomin.report import CONTENT_POLICY, TREE_POLICY, validate_repomin

_SIGNATURE_KEY = {"java": "java_exception_signature", "python": "python_exception_signature",
                  "process": "process_failure_signature"}


def write_repomin(draft: ReportDraft) -> bytes:
    """Nothing was reduced, so the counters are 0 and the source is the output. An argv is quoted as
    shell text. ``repomin_version`` is left out: ReproMin did not make this report.

    The document is read back, by the rules of the validator and of replay, before it is returned.

    Raises UsageError for what the format cannot say, ReportError for a draft that breaks its rules.
    """
    payload, code = draft.payload, draft.baseline.exit_code
    if payload.tree_exact is None or payload.tree_content is None:
        raise ValueError("a ReproMin report needs ReproMin's digests of the payload")
    if draft.workload.cwd != "." or draft.workload.artifacts:
        raise UsageError("a ReproMin report has no working directory and no artifacts; write a native report")
    if code is None:
        raise UsageError("a ReproMin report needs the exit code of the recorded run; write a native report")
    counts = {"files": payload.files, "bytes": payload.bytes}
    document: dict[str, object] = {
        "schema_version": 1,
        "command": draft.workload.display,
        "baseline_exit_code": code, "final_exit_code": code,
        "attempts": 0, "accepted_mutations": 0, "cache_hits": 0,
        "source": counts,
        "output": counts | {
            "tree_sha256": payload.tree_exact, "tree_fingerprint_policy": TREE_POLICY,
            "tree_content_sha256": payload.tree_content, "tree_content_fingerprint_policy": CONTENT_POLICY},
        "execution": _execution(draft),
        "phase_statistics": {"schema_version": 1, "coverage": "complete", "phases": []},
        "events": [],
        "holdout_certification": _no_holdout(),
        **_contract(draft),
    }
    to_case(validate_repomin(document), path="", sha256="")
    return canonical_json(document)


def _contract(draft: ReportDraft) -> dict[str, object]:
    contract, signature = draft.contract, draft.contract.signature
    kind = signature.kind if signature is not None else None
    result: dict[str, object] = {
        "failure_match": contract.match,
        "failure_spec": {
            "schema_version": 1, "match": contract.match,
            "exit_code": None if kind == "process" else contract.exit_code,
            "java_exception": kind == "java", "python_exception": kind == "python",
            "process_failure": kind == "process"}}
    if signature is not None:
        result[_SIGNATURE_KEY[signature.kind]] = _signature(signature)
    return result


def _signature(signature: Signature) -> dict[str, object]:
    match signature:
        case ProcessSignature(kind, code, name):
            return {"kind": kind, "code": code, "name": name}
        case JavaSignature(class_name, message, frames):
            return {"class": class_name, "message": message, "frames": list(frames)}
        case PythonSignature(class_name, message, frames, rooted):
            policy = {"normalization_policy": ROOTED_POLICY} if rooted else {}
            return {"class": class_name, "message": message, "frames": list(frames), **policy}


def _execution(draft: ReportDraft) -> dict[str, object]:
    execution, docker = draft.execution, draft.execution.backend == "docker"
    result: dict[str, object] = {
        "backend": execution.backend, "jobs": 1, "budget_exhausted": False,
        "baseline_runs": draft.baseline.runs, "baseline_passes": draft.baseline.matched,
        "environment_names": sorted(draft.environment.names),
        "environment_sha256": draft.environment.sha256,
        "working_directory_policy": "docker-workspace-v1" if docker else "host-output-basename-v1",
        "working_directory_basename": "workspace" if docker else draft.payload.name}
    if execution.timeout_seconds is not None:
        result["timeout_seconds"] = execution.timeout_seconds
    if docker:
        if execution.image is None:
            raise ValueError("a draft made in Docker has an image")
        result |= {"image": execution.image.name, "image_id": execution.image.id, "network": "none"}
    limits = {"memory_bytes": execution.limits.memory, "pids": execution.limits.pids,
              "cpus": execution.limits.cpus, "tmpfs_bytes": execution.limits.tmp,
              "workspace_bytes": execution.limits.work}
    kept = {key: value for key, value in limits.items() if value is not None}
    return result | ({"limits": kept} if kept else {})


def _no_holdout() -> dict[str, object]:
    return {"schema_version": 1, "status": "not_requested", "planned_runs": 0, "completed_runs": 0,
            "passes": 0, "samples": [], "artifact_fingerprint": None,
            "artifact_fingerprint_policy": TREE_POLICY}
