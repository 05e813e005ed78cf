"""Put what was found into the evidence document. Pure."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from runner import __version__
from runner.controller.records import (
    change_records,
    fingerprint_record,
    image_record,
    moment,
    policy_record,
    sample_of,
)
from runner.controller.settle import Settled
from runner.errors import ExitCode, printable
from runner.evidence.index import Opening
from runner.evidence.parts import ChangeRecord
from runner.evidence.result import ContractRecord, Drift, Result
from runner.evidence.verdict import Judged, Verdict, VerdictKind
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.image import ResolvedImage
from runner.sources.fingerprints import FingerprintMatch
from runner.sources.modes import mode_drift
from runner.sources.native.oracle import oracle_document


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a replay found out, before it is written down."""

    facts: BackendFacts
    image: ResolvedImage | None
    plan: Plan
    sealed: SealedPayload
    match: FingerprintMatch
    judged: tuple[Judged, ...]
    verdict: Verdict = field(default_factory=lambda: Verdict(VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED, ()))
    payload_unchanged: bool = True
    error: str | None = None
    cleanup: str = "complete"


def result_of(settled: Settled, found: Findings, run_id: str, started: datetime, finished: datetime,
              warnings: tuple[str, ...]) -> Result:
    """The evidence of a replay."""
    case, match, verdict = settled.case, found.match, found.verdict
    passes = sum(1 for run in found.judged if run.judgement.accepted)
    reproduced = verdict.kind is VerdictKind.REPRODUCED
    docker = settled.backend == "docker"
    return Result(
        tool={"name": "sandbox-runner", "version": __version__}, run_id=run_id,
        started=moment(started), finished=moment(finished), ok=reproduced, reproduced=reproduced,
        verdict=verdict.kind, exit_code=int(verdict.exit_code), reasons=verdict.reasons,
        warnings=(*warnings, *_warnings(settled, found)),
        source=case.source, report=printable(str(Path(case.path).absolute())), report_sha256=case.sha256,
        bundle_sha256=found.sealed.source.file_sha256, report_schema_version=_schema_version(case.schema_version),
        payload=printable(os.path.abspath(found.sealed.path)),
        command=printable(case.workload.display), holdout_status=case.holdout_status,
        backend=settled.backend, recorded_backend=case.execution.backend, oracle_mode=case.contract.mode,
        oracle_source=case.contract_source,
        contract=ContractRecord.model_validate(oracle_document(case.contract)), timeout_seconds=settled.timeout,
        timeout_source=settled.timeout_source, runs=settled.request.runs, jobs=found.plan.jobs,
        started_ahead=found.plan.ahead, passes=passes,
        failures=settled.request.runs - passes, ambient_environment_pinned=docker,
        environment_names=case.environment.names,
        fingerprint_mode=match.mode, fingerprint_verified=match.verified, expected_fingerprint=match.expected,
        actual_fingerprint=match.actual, expected_content_fingerprint=match.expected_content,
        actual_content_fingerprint=match.actual_content, metadata_drift_possible=match.metadata_drift_possible,
        mode_drift=_mode_drift(settled, found),
        payload_fingerprint=fingerprint_record(found.sealed.fingerprint), payload_unchanged=found.payload_unchanged,
        image=image_record(case.execution.image, found.image) if found.image else None,
        policy=policy_record(settled.policy), engine=asdict(found.facts),
        drift=drift_of(settled, found), samples=tuple(sample_of(run) for run in found.judged),
        error=found.error, cleanup=found.cleanup,
        docker_image=found.image.name if found.image else None,
        docker_image_id=found.image.id if found.image else None,
        docker_network=settled.network if found.image else None,
        recorded_docker_image_id=case.execution.image.id if found.image and case.execution.image else None,
        recorded_docker_network=case.execution.network if found.image else None)


def opening_of(settled: Settled, run_id: str, started: datetime, place: Path) -> Opening:
    """What the index is told before anything runs."""
    case = settled.case
    return Opening(run_id=run_id, directory=os.fsencode(place), started=moment(started),
                   command=printable(case.workload.display), report=printable(str(Path(case.path).absolute())),
                   report_sha256=case.sha256, backend=settled.backend, runs=settled.request.runs)


def started_record(settled: Settled, image: ResolvedImage | None) -> dict[str, Any]:
    """What was decided before anything ran, for the first event."""
    return {"tool": f"sandbox-runner {__version__}", "report_sha256": settled.case.sha256,
            "backend": settled.backend, "image": image.id if image else None,
            "policy_sha256": settled.policy.digest(), "runs": settled.request.runs}


def _schema_version(text: str) -> int | str:
    """ReproMin's is a number in its own evidence."""
    return int(text) if text.isdecimal() else text


def _warnings(settled: Settled, found: Findings) -> tuple[str, ...]:
    notes = [f"the report asked for {lowered.name} {lowered.asked}, the policy allows {lowered.used}"
             for lowered in settled.clamps]
    if found.match.metadata_drift_possible:
        notes.append(_unproved(found))
    if not found.match.verified:
        notes.append("the report records no fingerprint: only file and byte counts were compared")
    if settled.backend == "host":
        notes.append("the command ran on this host, outside any sandbox")
    if found.facts.reached == "tcp":
        notes.append("the engine was reached without TLS: nothing proves that it was the engine that was meant")
    accepted = [name for name in found.facts.not_enforced if name in settled.policy.accept_unenforced]
    if accepted:
        notes.append(f"the policy {settled.policy.name} accepts that this engine does not enforce: "
                     f"{', '.join(accepted)}")
    return tuple(notes)


def _unproved(found: Findings) -> str:
    if found.match.actual is None:
        return "only contents are proved: the report's exact digest covers metadata that a bundle lacks"
    return "only contents are proved: modes and times of the payload differ from what was recorded"


def _mode_drift(settled: Settled, found: Findings) -> tuple[ChangeRecord, ...]:
    """In content mode, the entries whose mode bits differ from what was recorded."""
    modes = settled.case.payload.modes
    if modes is None or not found.match.metadata_drift_possible:
        return ()
    return change_records(mode_drift(modes, found.sealed.manifest))


def drift_of(settled: Settled, found: Findings) -> tuple[Drift, ...]:
    """Every difference between the recording and this replay; things the report does not name cannot drift."""
    execution, image = settled.case.execution, found.image
    recorded_image = execution.image
    rows: list[tuple[str, str | None, str | None]] = [("backend", execution.backend, settled.backend)]
    if image is not None:
        if recorded_image is not None:
            rows.append(("image", recorded_image.id, image.id if image.matched == "name" else recorded_image.id))
            if recorded_image.platform:
                rows.append(("platform", recorded_image.platform, image.platform))
        if execution.network is not None or settled.network != "none":
            rows.append(("network", execution.network or "none", settled.network))
    if execution.policy_sha256 is not None:
        rows.append(("policy", execution.policy_sha256, settled.policy.digest()))
    if execution.timeout_seconds is not None:
        rows.append(("timeout", f"{execution.timeout_seconds:g}", f"{settled.timeout:g}"))
    return tuple(Drift(what=what, recorded=old, used=new) for what, old, new in rows if old != new)
