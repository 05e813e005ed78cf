"""What a load run found out, put into the evidence document. Pure."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from runner import __version__
from runner.controller.loads.recorded import drift_of
from runner.controller.loads.request import SettledLoad
from runner.controller.records import fingerprint_record, image_record, moment, policy_record, sample_of
from runner.controller.sessions.document import ready_text
from runner.errors import ExitCode, printable
from runner.evidence.index import Opening
from runner.evidence.load_record import AssertionRecord, LoadRecord, PhaseRecord
from runner.evidence.result import ContractRecord, Drift, Result
from runner.evidence.session_record import FileRecord
from runner.evidence.verdict import Judged, Verdict, VerdictKind
from runner.load.outcome import LoadOutcome
from runner.oracles.load.model import LoadJudgement, Metrics
from runner.payload.fingerprint import Fingerprint
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.image import ResolvedImage

NOTES = ("Overlap is what k6 saw of its own requests; what the application did at the same time is not known by it.",
         "A pass says that no declared assertion failed in this run, not that none can.")


@dataclass(frozen=True, slots=True)
class LoadFound:
    """What was made of what a run left. ``metrics`` have our own requests in them."""

    outcome: LoadOutcome
    judgement: LoadJudgement
    metrics: Metrics


@dataclass(frozen=True, slots=True)
class LoadFindings:
    """All that a load run found out, before it is written down. ``found`` is ``None`` where nothing ran."""

    run_id: str
    started: datetime
    place: Path
    facts: BackendFacts
    image: ResolvedImage | None
    driver_image: ResolvedImage
    plan: Plan
    sealed: SealedPayload
    scenario: Fingerprint
    judged: tuple[Judged, ...]
    verdict: Verdict = field(default_factory=lambda: Verdict(VerdictKind.NO_VERDICT, ExitCode.NOTHING_JUDGED, ()))
    found: LoadFound | None = None
    files: tuple[FileRecord, ...] = ()
    payload_unchanged: bool = True
    error: str | None = None
    cleanup: str = "complete"


def load_result(settled: SettledLoad, made: LoadFindings, finished: datetime) -> Result:
    """The evidence of a load run."""
    scenario, verdict = settled.scenario, made.verdict
    passes = sum(1 for run in made.judged if run.judgement.accepted)
    seen = made.sealed.fingerprint
    return Result(
        tool={"name": "sandbox-runner", "version": __version__}, run_id=made.run_id, started=moment(made.started),
        finished=moment(finished), ok=verdict.kind is VerdictKind.PASS, reproduced=False, verdict=verdict.kind,
        exit_code=int(verdict.exit_code), reasons=tuple(map(printable, verdict.reasons)),
        warnings=tuple(_warnings(settled, made)), source="litetraffic", report=_report(settled),
        report_sha256=scenario.sha256, report_schema_version=1,
        payload=printable(os.path.abspath(settled.payload)) if settled.payload else "", command=command_of(settled),
        backend="docker", recorded_backend="docker", oracle_mode="load", oracle_source="recorded",
        contract=ContractRecord(exit_code=None, match=None, signature=None), timeout_seconds=settled.times.run,
        timeout_source="report", runs=1, jobs=1, started_ahead=0, passes=passes, failures=1 - passes,
        ambient_environment_pinned=True, environment_names=tuple(name for name, _ in settled.env),
        fingerprint_mode="exact", fingerprint_verified=True, expected_fingerprint=seen.exact,
        actual_fingerprint=seen.exact, expected_content_fingerprint=seen.content,
        actual_content_fingerprint=seen.content, payload_fingerprint=fingerprint_record(seen),
        payload_unchanged=made.payload_unchanged,
        image=image_record(None, made.image) if made.image else None, policy=policy_record(settled.policy),
        engine=asdict(made.facts), drift=_drift(settled, made), samples=tuple(sample_of(run) for run in made.judged),
        error=made.error, cleanup=made.cleanup, docker_image=made.image.name if made.image else None,
        docker_image_id=made.image.id if made.image else None, docker_network=settled.network,
        mode="verify", seed=scenario.seed, planned_journeys=scenario.planned_journeys,
        planned_journeys_per_second=round(scenario.planned_journeys / scenario.maxima.scheduled_seconds, 3),
        finished_at=moment(finished), notes=NOTES, load=_load(settled, made), **_fields(made.found))


def _fields(found: LoadFound | None) -> dict[str, Any]:
    """LiteTraffic's fields, as far as something was found."""
    if found is None:
        return {}
    outcome, judgement = found.outcome, found.judgement
    return {
        "lifecycle": outcome.lifecycle, "engine_exit_code": outcome.engine.exit_code if outcome.engine else None,
        "completeness": "complete" if judgement.complete else "incomplete",
        "assertions": tuple(AssertionRecord(id=row.id, status=row.status, samples=row.samples, failures=row.failures,
                                            expected=row.expected, actual=row.actual, reason=row.reason)
                            for row in judgement.assertions),
        "metrics": found.metrics.document, "limitations": judgement.limitations, "journeys": judgement.journeys}


def _load(settled: SettledLoad, made: LoadFindings) -> LoadRecord:
    scenario, found = settled.scenario, made.found
    undeclared = found.judgement.undeclared if found is not None else {}
    return LoadRecord(
        scenario=printable(scenario.name), directory=_report(settled), scenario_sha256=scenario.sha256,
        scenario_fingerprint=made.scenario.content, target=printable(settled.target),
        target_command=printable(settled.command.display) if settled.command else None,
        ready=ready_text(settled.ready), engine=_engine(made),
        schedule=tuple(PhaseRecord(name=printable(phase.name), seconds=phase.seconds, rate=phase.rate)
                       for phase in scenario.schedule),
        budgets=asdict(scenario.budgets), maxima=asdict(scenario.maxima),
        driver_image=image_record(None, made.driver_image), driver_policy=policy_record(settled.driver_policy),
        undeclared={printable(name)[:200]: count for name, count in undeclared.items()},
        fixture_failures=tuple(map(printable, found.outcome.fixture_failures)) if found else (),
        cleaned=found.outcome.cleaned if found else None, series=settled.request.series, files=made.files)


def load_opening(settled: SettledLoad, run_id: str, started: datetime, place: Path) -> Opening:
    """What the index is told before anything runs."""
    return Opening(run_id=run_id, directory=os.fsencode(place), started=moment(started), command=command_of(settled),
                   report=_report(settled), report_sha256=settled.scenario.sha256, backend="docker", runs=1)


def started_record(settled: SettledLoad, image: ResolvedImage | None, driver: ResolvedImage) -> dict[str, Any]:
    """What was decided before anything ran, for the first event."""
    return {"tool": f"sandbox-runner {__version__}", "report_sha256": settled.scenario.sha256, "backend": "docker",
            "image": image.id if image else None, "driver_image": driver.id,
            "policy_sha256": settled.policy.digest(), "driver_policy_sha256": settled.driver_policy.digest(), "runs": 1}


def command_of(settled: SettledLoad) -> str:
    """The application's command, or where it runs."""
    return printable(settled.command.display if settled.command else settled.target)


def _report(settled: SettledLoad) -> str:
    return printable(os.path.abspath(settled.scenario.directory))


def _drift(settled: SettledLoad, made: LoadFindings) -> tuple[Drift, ...]:
    recorded, engine = settled.request.recorded, _engine(made)
    network = Drift(what="network", recorded="none", used=settled.network)
    return (*(drift_of(recorded, settled.scenario, engine) if recorded is not None else ()),
            *((network,) if settled.network != "none" else ()))


def _engine(made: LoadFindings) -> str:
    """What k6 says of itself; empty where it did not run."""
    engine = made.found.outcome.engine if made.found is not None else None
    return printable(engine.version) if engine else ""


def _warnings(settled: SettledLoad, made: LoadFindings) -> list[str]:
    notes = [printable(note) for note in settled.scenario.warnings]
    if settled.network != "none":
        where = ", ".join(f"{place.host}:{place.port} at {place.address}" for place in settled.places)
        notes.append(f"the load had the network {settled.network}, for an application outside the sandbox: "
                     f"{printable(where)}")
    if made.facts.reached == "tcp":
        notes.append("the engine was reached without TLS: nothing proves that it was the engine that was meant")
    return notes
