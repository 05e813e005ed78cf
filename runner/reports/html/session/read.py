"""A session's evidence to what the page shows of it."""

from __future__ import annotations

from runner.errors import ReportError
from runner.evidence.check import Evidence
from runner.evidence.result import Sample
from runner.evidence.session_record import FailureVerdict, SeenFailure, SessionRecord, SessionRun
from runner.incidents.model import Incident
from runner.incidents.read import INCIDENT_FILE, parse_incident
from runner.reports.html.excerpt import Excerpt, excerpt
from runner.reports.html.session.cards import cards_of, environment_of
from runner.reports.html.session.grids import api_faults_of, lanes_of, noise_of, state_faults_of
from runner.reports.html.session.media import Shelf
from runner.reports.html.session.requests import requests_of
from runner.reports.html.session.steps import moment, steps_of
from runner.reports.html.session.view import FailureRow, SessionView

_NOTHING = SessionRun(state="not_run", detail="the driver said nothing", duration_ms=0.0)
HAR_FILE = "network.har"
_OUTPUT = 64 << 10
_MOST_FAILURES = 200
_WORDS = {"reproduced": ("good", "reproduced"), "partly": ("warn", "partly"), "unknown": ("warn", "not known"),
          "not_reproduced": ("bad", "not reproduced"), "recorded": ("good", "recorded"), "new": ("warn", "new")}


def session_of(evidence: Evidence) -> SessionView | None:
    """The session; ``None`` for evidence of commands. Raises EvidenceAltered if a file has changed meanwhile."""
    session = evidence.result.session
    if session is None:
        return None
    sample = _told(evidence.result.samples)
    run = _NOTHING if sample is None or sample.session is None else sample.session
    shelf = Shelf(evidence, sample)
    numbers = {row.id: number for number, row in enumerate(session.failures[:_MOST_FAILURES], 1)}
    steps, more = steps_of(run, numbers, shelf)
    incident = _incident(shelf)
    return SessionView(
        run=sample.index if sample is not None else 0, runs=len(evidence.result.samples), url=session.url,
        cards=cards_of(session, run),
        notes=_notes(session, run), failures=_failures(session, run, {step.index for step in steps}),
        video=shelf.video(), steps=steps, steps_more=more,
        spread="" if run.spread_ms is None else f"The pages saw their clicks within {run.spread_ms:.1f} ms.",
        lanes=lanes_of(run), noise=noise_of(run), api_faults=api_faults_of(incident),
        state_faults=state_faults_of(incident), requests=requests_of(shelf.read(HAR_FILE)),
        output=_output(evidence, sample), environment=environment_of(session))


def _told(samples: tuple[Sample, ...]) -> Sample | None:
    """The run that is told: the first that showed what it was to show, else one of which the driver said something."""
    with_session = [sample for sample in samples if sample.session is not None]
    accepted = [sample for sample in with_session if sample.accepted]
    return next(iter((*accepted, *with_session, *samples)), None)


def _incident(shelf: Shelf) -> Incident | None:
    raw = shelf.read(INCIDENT_FILE)
    try:
        return parse_incident(raw) if raw else None
    except ReportError:
        return None


def _failures(session: SessionRecord, run: SessionRun, shown: set[int]) -> tuple[FailureRow, ...]:
    seen = {failure.id: failure for failure in run.failures}
    return tuple(_row(number, verdict, seen.get(verdict.id), shown)
                 for number, verdict in enumerate(session.failures[:_MOST_FAILURES], 1))


def _row(number: int, verdict: FailureVerdict, seen: SeenFailure | None, shown: set[int]) -> FailureRow:
    mark, words = _WORDS[verdict.state]
    step = seen.step if seen is not None and seen.step is not None else verdict.step
    at = moment(seen.at_ms) if seen is not None and seen.at_ms is not None else ""
    counted = "" if verdict.state == "recorded" else f"{verdict.seen:,} of {verdict.runs:,} runs"
    return FailureRow(number=number, key=verdict.key, id=verdict.id, mark=mark, words=words, seen=counted, step=step,
                      shown=step in shown, at=at)


def _notes(session: SessionRecord, run: SessionRun) -> tuple[str, ...]:
    said = [*session.notes, *([session.rate] if session.rate else []), *([run.detail] if run.detail else [])]
    said += [f"not put in, because its request never came: {fault}" for fault in run.unfired]
    said += [f"{count:,} signals of kind {kind} were beyond the cap and are not kept"
             for kind, count in run.dropped.items()]
    return tuple(dict.fromkeys(said))


def _output(evidence: Evidence, sample: Sample | None) -> tuple[Excerpt, ...]:
    target = sample.target if sample is not None else None
    if target is None:
        return ()
    return (excerpt("stdout", target.stdout, evidence.target_output(target, "stdout"), None, _OUTPUT),
            excerpt("stderr", target.stderr, evidence.target_output(target, "stderr"), None, _OUTPUT))
