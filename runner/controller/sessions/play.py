"""Playing an incident again: fresh sandboxes, one judgement a run, one verdict and one row for each failure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runner.browser.outcome import BrowserFacts, Outcome, write_outcome
from runner.controller.line import UNWATCHED, Progress, Replayed
from runner.controller.sessions.document import SessionFindings
from runner.controller.sessions.perform import Workshop, perform
from runner.controller.sessions.reading import Left, left_by
from runner.controller.sessions.request import SettledSession
from runner.controller.sessions.runs import session_run
from runner.controller.sessions.scrubbing import scrub_outcome
from runner.evidence.observation import Artifact, Observation
from runner.evidence.session_record import FailureVerdict
from runner.evidence.sessions import SessionsVerdict, check_reproducible, decide_sessions
from runner.evidence.store import RunDirectory
from runner.evidence.verdict import Judged, Verdict
from runner.incidents.identity import is_grave
from runner.incidents.model import Failure, Incident
from runner.oracles.events import SessionJudgement, judge_session
from runner.oracles.judgement import Judgement, MismatchReason
from runner.sandbox.backends.base import PairBackend

OUTCOME_PATH = b"out/outcome.json"


def replay_session(settled: SettledSession, *, out: Path | None = None, progress: Progress = UNWATCHED,
                   backend: PairBackend | None = None) -> Replayed:
    """Play it. Raises UsageError for an incident with nothing to reproduce, and as :func:`perform`."""
    assert settled.incident is not None
    check_reproducible(settled.incident)
    player = _Player(settled, settled.incident)
    workshop = Workshop(player.judge, player.decide, player.finish)
    return perform(settled, workshop, out=out, progress=progress, backend=backend)


def judged_session(incident: Incident, left: Left) -> tuple[Outcome | None, SessionJudgement]:
    """What one run's driver left, scrubbed, and what it shows."""
    if left.outcome is None:
        return None, SessionJudgement("crashed" if left.started else "not_run", detail=left.why)
    outcome = scrub_outcome(left.outcome, incident.target_url)
    return outcome, judge_session(incident, outcome)


class _Player:
    """Judges run after run."""

    def __init__(self, settled: SettledSession, incident: Incident) -> None:
        self._settled = settled
        self._incident = incident
        self._judgements: dict[int, SessionJudgement] = {}
        self._browser: BrowserFacts | None = None

    def judge(self, observation: Observation) -> Judged:
        """One run. What is kept of it is scrubbed."""
        left = left_by(observation)
        outcome, judgement = judged_session(self._incident, left)
        self._judgements[observation.index] = judgement
        if outcome is None:
            return Judged(replace(observation, artifacts=()), judgement_of(judgement))
        self._browser = outcome.browser
        kept = [Artifact(OUTCOME_PATH, write_outcome(outcome)),
                *(Artifact(b"out/" + name.encode(), data) for name, data in sorted(left.files.items())
                  if name.endswith((".png", ".webm")))]
        run = session_run(outcome, (*judgement.seen, *judgement.new), judgement.noise,
                          frozenset(failure.identity.id for failure in judgement.seen),
                          tuple(identity.id for identity in judgement.missing), unfired(self._incident, outcome))
        return Judged(replace(observation, artifacts=tuple(kept)), judgement_of(judgement), run)

    def decide(self, judged: tuple[Judged, ...]) -> Verdict:
        """Over all runs."""
        return self._whole(judged).verdict

    def finish(self, _: RunDirectory, found: SessionFindings) -> SessionFindings:
        """Nothing more is written: each run kept its own files."""
        if not found.judged:
            return found
        whole = self._whole(found.judged)
        return replace(found, browser=self._browser, failures=(*self._rows(whole), *_news(whole)),
                       rate=self._rate(found.judged))

    def _whole(self, judged: tuple[Judged, ...]) -> SessionsVerdict:
        judgements = [self._judgements[run.observation.index] for run in judged]
        return decide_sessions(self._incident, judgements, self._settled.request.runs)

    def _rows(self, whole: SessionsVerdict) -> list[FailureVerdict]:
        """Each recorded failure, under the name that says most: LOKI keeps no method and no stack."""
        steps: dict[str, Failure] = {failure.identity.id: failure for failure in reversed(self._incident.failures)}
        names = {recorded: seen.identity for judgement in self._judgements.values()
                 for recorded, seen in zip(judgement.found, judgement.seen, strict=True)}
        return [FailureVerdict(id=row.identity.id, key=names.get(row.identity, row.identity).key,
                               kind=row.identity.kind, state=row.state, seen=row.seen, runs=row.runs,
                               step=steps[row.identity.id].step, grave=is_grave(row.identity)) for row in whole.rows]

    def _rate(self, judged: tuple[Judged, ...]) -> str:
        if self._incident.race is None:
            return ""
        raced = sum(any(identity.kind == "race" for identity in self._judgements[run.observation.index].found)
                    for run in judged)
        return f"raced in {raced} of {len(judged)} runs"


def judgement_of(session: SessionJudgement) -> Judgement:
    """A session's judgement in the words that all runs share."""
    if session.accepted:
        return Judgement(True, None, "passed", detail=session.detail)
    if session.kind == "judged":
        gone = "; ".join(identity.key for identity in session.missing)
        return Judgement(False, "failure", "failed", detail=f"not seen: {gone}")
    reason: MismatchReason = "diverged" if session.kind == "diverged" else "no_verdict"
    return Judgement(False, reason, "no_verdict", detail=session.detail)


def unfired(incident: Incident, outcome: Outcome) -> tuple[str, ...]:
    """Recorded faults whose request never came."""
    fired = [(fault.method, fault.url, fault.fault_type) for fault in outcome.api_faults]
    late = []
    for fault in incident.api_faults:
        key = (fault.method, fault.url, fault.fault_type)
        if key in fired:
            fired.remove(key)
        else:
            late.append(f"{fault.fault_type} for {fault.method} {fault.url}")
    return tuple(late)


def _news(whole: SessionsVerdict) -> list[FailureVerdict]:
    return [FailureVerdict(id=row.identity.id, key=row.identity.key, kind=row.identity.kind, state="new",
                           seen=row.seen, runs=row.runs, grave=is_grave(row.identity)) for row in whole.new]
