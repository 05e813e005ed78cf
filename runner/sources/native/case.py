"""The case of a native report."""

from __future__ import annotations

from runner.case import (
    Case,
    RecordedEnvironment,
    RecordedExecution,
    RecordedModes,
    RecordedPayload,
    RequestedLimits,
)
from runner.sandbox.image import ImagePin
from runner.sources.native.command import CommandReport
from runner.sources.native.parts import ExecutionPart, ImagePart, ModesPart


def to_case(report: CommandReport, *, path: str, sha256: str) -> Case:
    """What a checked report claims."""
    return Case(
        source="native", path=path, sha256=sha256, schema_version=report.schema_,
        workload=report.workload.workload(), contract=report.oracle.contract(), contract_source="recorded",
        payload=recorded_payload(report),
        environment=RecordedEnvironment(report.environment.names, report.environment.sha256),
        execution=_execution(report.execution))


def recorded_payload(report: CommandReport) -> RecordedPayload:
    """What a checked report says of its payload."""
    payload = report.payload
    return RecordedPayload(payload.files, payload.bytes, payload.fingerprint.scheme,
                           payload.fingerprint.exact, payload.fingerprint.content, _modes(payload.modes))


def _execution(part: ExecutionPart) -> RecordedExecution:
    limits = part.limits
    return RecordedExecution(
        backend=part.backend, image=_pin(part.image), network=part.network,
        timeout_seconds=part.timeout_seconds, policy_name=part.policy.name, policy_sha256=part.policy.sha256,
        limits=RequestedLimits(limits.memory, limits.pids, limits.cpus, limits.tmp, limits.work),
        image_problem="" if part.image else "execution.image: the failure was recorded on a host")


def _modes(part: ModesPart | None) -> RecordedModes | None:
    if part is None:
        return None
    others = tuple(sorted((path, int(mode, 8)) for path, mode in part.others.items()))
    return RecordedModes(int(part.file, 8), int(part.directory, 8), others)


def _pin(image: ImagePart | None) -> ImagePin | None:
    if image is None:
        return None
    return ImagePin(image.id, image.name, image.platform, image.manifest or "",
                    tuple(sorted(image.tools.items())))
