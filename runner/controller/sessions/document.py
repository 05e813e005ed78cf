"""What a session found out, put into the evidence document. Pure."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from runner import __version__
from runner.browser.job import Ready
from runner.browser.outcome import BrowserFacts
from runner.controller.records import fingerprint_record, image_record, moment, policy_record, sample_of
from runner.controller.sessions.options import options_of
from runner.controller.sessions.request import SettledSession
from runner.errors import ExitCode, printable
from runner.evidence.index import Opening
from runner.evidence.result import ContractRecord, Drift, Result
from runner.evidence.session_record import BrowserRecord, FailureVerdict, FileRecord, SessionRecord
from runner.evidence.verdict import Judged, Verdict, VerdictKind
from runner.incidents.make import PERSONA_NAMES
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.image import ImagePin, ResolvedImage

INCIDENT_FILE = "incident.json"


@dataclass(frozen=True, slots=True)
class SessionFindings:
    """All that a session found out, before it is written down. ``files`` are in the run directory by then."""

    run_id: str
    started: datetime
    place: Path
    facts: BackendFacts
    image: ResolvedImage | None
    driver_image: ResolvedImage
    plan: Plan
    sealed: SealedPayload
    judged: tuple[Judged, ...]
    verdict: Verdict = field(default_factory=lambda: Verdict(VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED, ()))
    payload_unchanged: bool = True
    error: str | None = None
    cleanup: str = "complete"
    browser: BrowserFacts | None = None
    failures: tuple[FailureVerdict, ...] = ()
    rate: str = ""
    files: tuple[FileRecord, ...] = ()
    faults: tuple[int, int] | None = None
    """Of a recording: how many were put into answers, and into the page's state."""


def result_of(settled: SettledSession, found: SessionFindings, finished: datetime) -> Result:
    """The evidence of a session."""
    request, incident, verdict = settled.request, settled.incident, found.verdict
    passes = sum(1 for run in found.judged if run.judgement.accepted)
    mode, exact, content = _payload_match(settled, found)
    return Result(
        tool={"name": "sandbox-runner", "version": __version__}, run_id=found.run_id,
        started=moment(found.started), finished=moment(finished),
        ok=verdict.kind in (VerdictKind.REPRODUCED, VerdictKind.RECORDED),
        reproduced=verdict.kind is VerdictKind.REPRODUCED, verdict=verdict.kind, exit_code=int(verdict.exit_code),
        reasons=verdict.reasons, warnings=tuple(_warnings(settled, found)),
        source=incident.source if incident else "runner", report=printable(_report_path(settled, found.place)),
        report_sha256=report_sha256(settled, found), report_schema_version=_schema(settled),
        payload=printable(os.path.abspath(settled.payload)) if settled.payload else "",
        command=command_of(settled), backend="docker", recorded_backend="docker", oracle_mode="events",
        oracle_source="recorded", contract=ContractRecord(exit_code=None, match=None, signature=None),
        timeout_seconds=settled.times.run, timeout_source="override" if request.timeout else "report",
        runs=request.runs, jobs=found.plan.jobs, started_ahead=found.plan.ahead, passes=passes,
        failures=request.runs - passes, ambient_environment_pinned=True,
        environment_names=tuple(name for name, _ in settled.env),
        fingerprint_mode=mode, fingerprint_verified=mode in ("exact", "content"), expected_fingerprint=exact,
        actual_fingerprint=found.sealed.fingerprint.exact, expected_content_fingerprint=content,
        actual_content_fingerprint=found.sealed.fingerprint.content, metadata_drift_possible=mode == "content",
        payload_fingerprint=fingerprint_record(found.sealed.fingerprint), payload_unchanged=found.payload_unchanged,
        image=image_record(_target_pin(settled), found.image) if found.image else None,
        policy=policy_record(settled.policy), engine=asdict(found.facts), drift=_drift(settled, found),
        samples=tuple(sample_of(run) for run in found.judged), error=found.error, cleanup=found.cleanup,
        docker_image=found.image.name if found.image else None,
        docker_image_id=found.image.id if found.image else None, docker_network=settled.network,
        session=_session(settled, found))


def opening_of(settled: SettledSession, run_id: str, started: datetime, place: Path) -> Opening:
    """What the index is told before anything runs."""
    report = printable(_report_path(settled, place))
    return Opening(run_id=run_id, directory=os.fsencode(place), started=moment(started), command=command_of(settled),
                   report=report, report_sha256=report_sha256(settled), backend="docker", runs=settled.request.runs)


def started_record(settled: SettledSession, image: ResolvedImage | None, driver: ResolvedImage) -> dict[str, Any]:
    """What was decided before anything ran, for the first event."""
    return {"tool": f"sandbox-runner {__version__}", "report_sha256": report_sha256(settled), "backend": "docker",
            "image": image.id if image else None, "driver_image": driver.id,
            "policy_sha256": settled.policy.digest(), "driver_policy_sha256": settled.driver_policy.digest(),
            "runs": settled.request.runs}


def command_of(settled: SettledSession) -> str:
    """The application's command, or where it runs."""
    return printable(settled.target.display if settled.target else settled.job.url)


def report_sha256(settled: SettledSession, found: SessionFindings | None = None) -> str:
    """Digest of the incident that is played; a recording's own, once it is written."""
    if settled.incident is not None:
        return settled.incident.sha256
    return next((file.sha256 for file in found.files if file.name == INCIDENT_FILE), "") if found else ""


def _report_path(settled: SettledSession, place: Path) -> str:
    """A recording is its own report, and its digest is not known before it ends."""
    return str(Path(settled.incident.path if settled.incident else place / INCIDENT_FILE).absolute())


def _schema(settled: SettledSession) -> str:
    return "loki.incident" if settled.incident and settled.incident.source == "loki" else "runner.incident/1"


def _payload_match(settled: SettledSession, found: SessionFindings) -> tuple[Any, str | None, str | None]:
    """How the payload fits the recorded one: another one is a person's choice, since a fix is a change."""
    own = settled.incident.own if settled.incident else None
    if settled.incident is None:
        return "exact", found.sealed.fingerprint.exact, found.sealed.fingerprint.content
    if own is None or not own.exact or settled.payload is None:
        return "unavailable", None, None
    if own.exact == found.sealed.fingerprint.exact:
        return "exact", own.exact, own.content
    same = own.content == found.sealed.fingerprint.content
    return "content" if same else "changed", own.exact, own.content


def _target_pin(settled: SettledSession) -> ImagePin | None:
    own = settled.incident.own if settled.incident else None
    return ImagePin(own.target.image.id, own.target.image.name) if own and own.target else None


def _drift(settled: SettledSession, found: SessionFindings) -> tuple[Drift, ...]:
    own = settled.incident.own if settled.incident else None
    rows: list[tuple[str, str | None, str | None]] = []
    if settled.network != "none" or (own is not None and own.network != "none"):
        rows.append(("network", own.network if own else "none", settled.network))
    if own is not None:
        policies = dict(own.policies)
        rows += [("payload", own.content or None, found.sealed.fingerprint.content if settled.payload else None),
                 ("target_image", own.target.image.id if own.target else None, found.image.id if found.image else None),
                 ("browser_image", own.driver_image.id if own.driver_image else None, found.driver_image.id),
                 ("policy", policies.get("target"), settled.policy.digest()),
                 ("browser_policy", policies.get("driver"), settled.driver_policy.digest())]
        if own.browser.version and found.browser is not None and found.browser.version:
            rows.append(("browser", own.browser.version, found.browser.version))
    return tuple(Drift(what=what, recorded=old, used=new) for what, old, new in rows if old != new)


def _warnings(settled: SettledSession, found: SessionFindings) -> list[str]:
    incident = settled.incident
    notes = [printable(note) for note in incident.notes] if incident else []
    if settled.network != "none":
        notes.append(f"the browser had the network {settled.network}: the application ran outside the sandbox")
    if found.facts.reached == "tcp":
        notes.append("the engine was reached without TLS: nothing proves that it was the engine that was meant")
    if found.browser is not None and found.browser.name and found.browser.sandbox != "on":
        notes.append(f"the browser's own sandbox: {found.browser.sandbox}")
    return notes


def _session(settled: SettledSession, found: SessionFindings) -> SessionRecord:
    job, incident = settled.job, settled.incident
    uncontrolled = {source for run in found.judged if run.session for source in run.session.uncontrolled}
    api_faults, state_faults = found.faults or (len(job.api_faults), len(job.state_faults))
    return SessionRecord(
        mode=job.mode, url=printable(job.url), persona=_persona(settled), seed=job.seed if _seeded(settled) else None,
        pace=job.pace, steps=len(job.trace),
        target_command=printable(settled.target.display) if settled.target else None,
        ready=ready_text(job.ready), browser=_browser(found.browser),
        driver_image=image_record(_driver_pin(settled), found.driver_image),
        driver_policy=policy_record(settled.driver_policy), failures=found.failures,
        api_faults=api_faults, state_faults=state_faults,
        lanes=job.race.lanes if job.race else 0, rate=found.rate, uncontrolled=tuple(sorted(uncontrolled)),
        notes=tuple(printable(note) for note in incident.notes) if incident else (),
        options=options_of(settled), files=found.files)


def _persona(settled: SettledSession) -> str | None:
    """As incidents name it."""
    if settled.incident is not None:
        return settled.incident.persona
    return PERSONA_NAMES[settled.job.chaos.persona] if settled.job.chaos else None


def _seeded(settled: SettledSession) -> bool:
    return settled.incident is None or settled.incident.seed is not None


def _driver_pin(settled: SettledSession) -> ImagePin | None:
    own = settled.incident.own if settled.incident else None
    return ImagePin(own.driver_image.id, own.driver_image.name) if own and own.driver_image else None


def _browser(facts: BrowserFacts | None) -> BrowserRecord | None:
    if facts is None or not facts.name:  # none was started
        return None
    return BrowserRecord(name=printable(facts.name), version=printable(facts.version),
                         playwright=printable(facts.playwright), sandbox=facts.sandbox,
                         user_agent=printable(facts.user_agent), viewport=printable(facts.viewport),
                         device=printable(facts.device))


def ready_text(ready: Ready) -> str:
    """When the application counts as started, in words."""
    how = "its port takes connections" if ready.path is None else (
        f"GET {ready.path} answers {'below 500' if ready.status is None else ready.status}")
    return printable(f"{how}, within {ready.timeout:g} s")
