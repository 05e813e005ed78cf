"""Native reports for payloads that were made a moment ago, with any contract."""

from __future__ import annotations

from pathlib import Path

from runner.case import RecordedEnvironment, RecordedExecution, RequestedLimits
from runner.oracles.contract import Contract
from runner.payload.seal import DEFAULT_LIMITS, seal
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.image import ImagePin
from runner.sandbox.policy import load_policy
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.native import write_native
from runner.workloads.command import CommandWorkload

NO_LIMITS = RequestedLimits()


def command_image() -> ImagePin:
    """Our own image, as a recording would pin it."""
    found = DockerBackend().resolve_image(None)
    return ImagePin(found.id, found.name, found.platform)


def write_fresh(path: Path, payload: Path, image: ImagePin, workload: CommandWorkload, contract: Contract, *,
                timeout: float = 30.0, limits: RequestedLimits = NO_LIMITS) -> Path:
    """Write a report of ``payload`` as it is now; returns ``path``."""
    sealed = seal(payload, DEFAULT_LIMITS)
    policy = load_policy("default")
    seen = sealed.fingerprint
    path.write_bytes(write_native(ReportDraft(
        created="2026-01-01T00:00:00Z", tool_version="0.1.0", workload=workload, contract=contract,
        payload=RecordedTree(payload.name, seen.files, seen.bytes, seen.entries, seen.exact, seen.content),
        environment=RecordedEnvironment(),
        execution=RecordedExecution("docker", image, "none", timeout, policy.name, policy.digest(), limits),
        baseline=Baseline(1, 1, contract.exit_code))))
    return path
