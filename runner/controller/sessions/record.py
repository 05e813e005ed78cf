"""Recording a session: one run, whose outcome becomes an incident and the files beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from runner import __version__
from runner.browser.outcome import Outcome
from runner.controller.line import UNWATCHED, Progress, Replayed
from runner.controller.sessions.document import INCIDENT_FILE, SessionFindings
from runner.controller.sessions.perform import Workshop, perform
from runner.controller.sessions.reading import Left, left_by
from runner.controller.sessions.request import SettledSession
from runner.controller.sessions.runs import session_run, verdicts_of_recording
from runner.controller.sessions.scrubbing import scrub_session
from runner.errors import ExitCode
from runner.evidence.observation import Observation
from runner.evidence.session_record import FileRecord
from runner.evidence.store import RunDirectory
from runner.evidence.verdict import Judged, Verdict, VerdictKind
from runner.incidents.make import incident_of
from runner.incidents.model import ImagePart, Incident, OwnPart, TargetPart
from runner.incidents.own import KEY, own_part
from runner.incidents.read import parse_incident
from runner.incidents.write import incident_document
from runner.oracles.judgement import Judgement, unjudged
from runner.reports.script.render import render_script
from runner.sandbox.backends.base import PairBackend
from runner.sandbox.image import ResolvedImage

SCRIPT_FILE = "repro_test.py"
_NOT_RUN = frozenset({"not_ready", "unreachable", "not_launched", "refused"})


def record_session(settled: SettledSession, *, out: Path | None = None, progress: Progress = UNWATCHED,
                   backend: PairBackend | None = None, shrunk_from: str = "") -> Replayed:
    """Record. ``shrunk_from`` is the digest of a longer incident, if that is where the trace is from. Raises as
    :func:`perform`.
    """
    recorder = _Recorder(settled, shrunk_from)
    workshop = Workshop(recorder.judge, recorder.decide, recorder.finish)
    return perform(settled, workshop, out=out, progress=progress, backend=backend)


class _Recorder:
    """Holds what the one run left, scrubbed, until it is written."""

    def __init__(self, settled: SettledSession, shrunk_from: str) -> None:
        self._settled = settled
        self._shrunk_from = shrunk_from
        self._left = Left(None, why="nothing was run", started=False)
        self._document: dict[str, Any] = {}
        self._files: dict[str, bytes] = {}
        self._notes: tuple[str, ...] = ()
        self._incident: Incident | None = None

    def judge(self, observation: Observation) -> Judged:
        """Nothing is claimed, so nothing is judged: what was left is taken in."""
        left = self._left = left_by(observation)
        bare = replace(observation, artifacts=())
        if left.outcome is None:
            return Judged(bare, unjudged(left.why))
        raw = incident_of(left.outcome, self._settled.job, OwnPart(), run_id="", timestamp="")
        document = incident_document(raw, left.outcome)
        self._document, self._files, self._notes = scrub_session(document, left.files)
        incident = self._incident = parse_incident(json.dumps(self._document).encode())
        run = session_run(_scrubbed(left.outcome, incident), incident.failures, _own(incident).noise)
        if left.outcome.state != "done":
            return Judged(bare, unjudged(run.detail or run.state), run)
        return Judged(bare, Judgement(True, None, "passed"), run)

    def decide(self, judged: tuple[Judged, ...]) -> Verdict:
        """A session that came to its end is recorded, whatever it found."""
        outcome = self._left.outcome
        if outcome is not None and outcome.state == "done":
            return Verdict(VerdictKind.RECORDED, ExitCode.OK, ())
        started = self._left.started if outcome is None else outcome.state not in _NOT_RUN
        code = ExitCode.NO_VERDICT if started else ExitCode.NOTHING_JUDGED
        return Verdict(VerdictKind.NO_VERDICT, code, tuple(run.judgement.detail for run in judged))

    def finish(self, directory: RunDirectory, found: SessionFindings) -> SessionFindings:
        """Write the incident and its files. Raises SetupError."""
        outcome, incident = self._left.outcome, self._incident
        if outcome is None or incident is None:
            return found
        whole = replace(incident, run_id=found.run_id, timestamp=_local(found.started),
                        own=self._completed(_own(incident), found))
        document = {**self._document, "run_id": whole.run_id, "timestamp": whole.timestamp, KEY: own_part(whole)}
        raw = (json.dumps(document, indent=2, ensure_ascii=True) + "\n").encode()
        records = []
        for name, data in {INCIDENT_FILE: raw, **_script(whole), **self._files}.items():
            directory.write(name, data)
            records.append(FileRecord(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest()))
        failures = verdicts_of_recording(whole)
        verdict = found.verdict
        if verdict.kind is VerdictKind.RECORDED:
            verdict = replace(verdict, reasons=(*(failure.key for failure in failures), *self._notes))
        return replace(found, verdict=verdict, browser=outcome.browser, failures=failures, files=tuple(records),
                       faults=(len(whole.api_faults), len(whole.state_faults)))

    def _completed(self, own: OwnPart, found: SessionFindings) -> OwnPart:
        """With what the controller knows."""
        settled, sealed = self._settled, found.sealed
        target = None
        if settled.target is not None and found.image is not None:
            target = TargetPart(settled.target.display, _image_part(found.image), settled.job.ready, settled.job.reset)
        return replace(
            own, tool=f"sandbox-runner {__version__}", created=found.started.isoformat(timespec="seconds"),
            payload=str(Path(settled.payload).absolute()) if settled.payload else "",
            exact=sealed.fingerprint.exact if settled.payload else "",
            content=sealed.fingerprint.content if settled.payload else "", target=target,
            driver_image=_image_part(found.driver_image),
            policies=(("driver", settled.driver_policy.digest()), ("target", settled.policy.digest())),
            network=settled.network, versions=_versions(found), shrunk_from=self._shrunk_from)


def _own(incident: Incident) -> OwnPart:
    assert incident.own is not None  # it was made here
    return incident.own


def _scrubbed(outcome: Outcome, incident: Incident) -> Outcome:
    """The outcome in the incident's words, which hold no secrets."""
    own = _own(incident)
    return replace(outcome, detail=own.detail, trace=incident.trace, steps=own.steps, lanes=incident.lanes,
                   uncontrolled=own.uncontrolled, actions=incident.actions, signals=())


def _local(moment: datetime) -> str:
    """Local time without zone, as LOKI writes it."""
    return moment.astimezone().replace(tzinfo=None).isoformat()


def _image_part(image: ResolvedImage) -> ImagePart:
    return ImagePart(image.name, image.id)


def _versions(found: SessionFindings) -> tuple[tuple[str, str], ...]:
    facts = found.facts
    return (("engine", f"{facts.product or 'docker'} {facts.version}"), ("kernel", facts.kernel),
            ("platform", facts.platform))


def _script(incident: Incident) -> dict[str, bytes]:
    """Only for a session in which something failed, as LOKI has it."""
    if not incident.failures:
        return {}
    return {SCRIPT_FILE: render_script(incident).encode()}
