"""Observations for oracle tests, built from what a test cares about."""

from __future__ import annotations

from pathlib import Path

from runner.evidence.observation import Artifact, Observation, Stream, Workspace
from runner.sandbox.exit import Cause, ExitStatus

TRACEBACKS = Path(__file__).parent.parent / "data" / "tracebacks"


def traceback_text(name: str) -> str:
    """Output of a real program, with its work tree at /workspace."""
    return (TRACEBACKS / f"{name}.txt").read_text(encoding="utf-8")


def exited(code: int | None, *, cause: Cause = Cause.EXITED, hint: int | None = None, child_oom: bool = False,
           detail: str = "") -> ExitStatus:
    return ExitStatus(cause, code, signal_hint=hint, child_oom=child_oom, detail=detail)


def signaled(number: int, cause: Cause = Cause.SIGNALED) -> ExitStatus:
    return ExitStatus(cause, 128 + number, number)


def observed(stderr: str | bytes = "", *, stdout: str | bytes = "", status: ExitStatus | None = None,
             index: int = 1, root: str = "/workspace", reports: dict[bytes, bytes] | None = None,
             workspace: Workspace = Workspace.ROOM) -> Observation:
    return Observation(
        index, status or exited(1), stdout=_stream(stdout), stderr=_stream(stderr), root=root,
        workspace=workspace, artifacts=tuple(Artifact(path, data) for path, data in (reports or {}).items()))


def numbered(*runs: Observation) -> list[Observation]:
    """The runs with indexes from 1."""
    return [Observation(index, run.status, stdout=run.stdout, stderr=run.stderr, root=run.root,
                        workspace=run.workspace, artifacts=run.artifacts) for index, run in enumerate(runs, 1)]


def _stream(content: str | bytes) -> Stream:
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return Stream(bytes=len(data), head=data)
