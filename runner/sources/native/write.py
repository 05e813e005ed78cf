"""A draft, written as a native report."""

from __future__ import annotations

from runner.case import RecordedModes
from runner.sandbox.image import ImagePin
from runner.sources.draft import ReportDraft
from runner.sources.environment import environment_sha256
from runner.sources.native.oracle import oracle_document
from runner.sources.native.parse import SCHEMA, dump_native, parse_native
from runner.workloads.command import CommandWorkload

TOOL = "sandbox-runner"


def write_native(draft: ReportDraft) -> bytes:
    """Canonical JSON of a report that the reader accepts: it is parsed before it is returned.

    Raises ReportError for a draft that no report may hold (an argument with a NUL, say).
    """
    return dump_native(parse_native(_document(draft)))


def _document(draft: ReportDraft) -> dict[str, object]:
    payload, environment, baseline = draft.payload, draft.environment, draft.baseline
    return {
        "schema": SCHEMA, "kind": draft.workload.kind, "created": draft.created,
        "tool": {"name": TOOL, "version": draft.tool_version},
        "payload": {"files": payload.files, "bytes": payload.bytes, "entries": payload.entries,
                    "fingerprint": {"exact": payload.exact, "content": payload.content,
                                    "scheme": "manifest-sha256-v1"},
                    "modes": _modes(payload.modes)},
        "workload": _workload(draft.workload),
        "oracle": oracle_document(draft.contract),
        "environment": {"names": sorted(environment.names),
                        "sha256": environment.sha256 or environment_sha256(())},
        "execution": _execution(draft),
        "baseline": {"runs": baseline.runs, "matched": baseline.matched, "exit_code": baseline.exit_code},
    }


def _modes(modes: RecordedModes | None) -> dict[str, object] | None:
    if modes is None:
        return None
    return {"file": f"{modes.file:04o}", "directory": f"{modes.directory:04o}",
            "others": {path: f"{mode:04o}" for path, mode in modes.others}}


def _workload(workload: CommandWorkload) -> dict[str, object]:
    return {"kind": workload.kind, "argv": list(workload.argv) if workload.shell is None else None,
            "shell": workload.shell, "cwd": workload.cwd, "artifacts": list(workload.artifacts)}


def _execution(draft: ReportDraft) -> dict[str, object]:
    execution, limits = draft.execution, draft.execution.limits
    return {
        "backend": execution.backend,
        "image": _image(execution.image) if execution.image else None,
        "network": execution.network or "none",
        "policy": {"name": execution.policy_name, "sha256": execution.policy_sha256},
        "timeout_seconds": execution.timeout_seconds,
        "limits": {"memory": limits.memory, "pids": limits.pids, "cpus": limits.cpus, "tmp": limits.tmp,
                   "work": limits.work},
    }


def _image(image: ImagePin) -> dict[str, object]:
    return {"name": image.name, "id": image.id, "manifest": image.manifest or None,
            "platform": image.platform, "tools": dict(image.tools)}
