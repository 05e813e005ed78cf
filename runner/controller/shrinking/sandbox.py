"""A player with real sandboxes: for every candidate a fresh application and a fresh browser, and what they showed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from runner import __version__
from runner.browser.job import Job, Outputs, write_job
from runner.browser.outcome import Outcome
from runner.controller.bounds import seal_limits
from runner.controller.observe import observe_one
from runner.controller.sessions.perform import driver_image_of, driver_plan, open_session, sealed_job
from runner.controller.sessions.play import judged_session
from runner.controller.sessions.reading import Left, left_by
from runner.controller.sessions.request import SettledSession
from runner.controller.sessions.times import session_seconds
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.incidents import incident_of
from runner.controller.shrinking.journal import Seen
from runner.errors import Interrupted, LimitNotEnforced, SetupError, printable
from runner.incidents.model import Incident
from runner.payload.seal import SealedPayload, check_unchanged, seal
from runner.sandbox.backends.base import PairBackend, Session
from runner.sandbox.exit import Cause
from runner.sandbox.image import ResolvedImage
from runner.sources.environment import environment_sha256

_NOTHING: Final = Outputs(video=False, har=False, trace=False, screenshots=False, dom=False)


@dataclass(frozen=True, slots=True)
class Bench:
    """What all candidates share: decisions, images, the payload as it was sealed."""

    settled: SettledSession
    backend: PairBackend
    image: ResolvedImage | None
    driver_image: ResolvedImage
    sealed: SealedPayload | None

    def terms(self) -> dict[str, Any]:
        """Everything but the candidate that an answer depends on."""
        settled, incident = self.settled, self.settled.incident
        assert incident is not None
        target = settled.target.display if settled.target else None
        job = sha256(write_job(replace(settled.job, outputs=_NOTHING))).hexdigest()
        return {"tool": __version__, "incident": incident.sha256, "job": job, "target": target,
                "environment": environment_sha256(settled.env),
                "payload": self.sealed.fingerprint.exact if self.sealed else None,
                "images": [self.image.id if self.image else None, self.driver_image.id],
                "policies": [settled.policy.digest(), settled.driver_policy.digest()], "network": settled.network}


@contextmanager
def prepared(settled: SettledSession, backend: PairBackend, jobs: int) -> Iterator[Bench]:
    """Seal the payload once, find the images; at the end, the payload is still what it was. Raises RunnerError."""
    _check_room(settled, backend, jobs)
    driver_image = driver_image_of(settled, backend)
    image = None if settled.target is None else backend.resolve_image(settled.image)
    sealed = None if settled.payload is None else seal(settled.payload, seal_limits(settled.policy))
    yield Bench(settled, backend, image, driver_image, sealed)
    if sealed is not None:
        check_unchanged(sealed)


def _check_room(settled: SettledSession, backend: PairBackend, jobs: int) -> None:
    """Each session is admitted for itself; together they must fit too."""
    each = settled.driver_policy.memory + (settled.policy.memory if settled.target else 0)
    total = backend.probe().memory
    if jobs > 1 and jobs * each > total:
        raise LimitNotEnforced(f"--jobs {jobs}: they may need {jobs * each >> 20} MiB, the engine's host has "
                               f"{total >> 20} MiB", hint=f"at most {max(total // each, 1)} fit")


class SandboxPlayer:
    """Plays candidates, and looks for the recorded failures in what the driver told."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._lock = threading.Lock()
        self._open: set[Session] = set()
        self._cancelled = False

    def play(self, candidate: Candidate) -> Seen:
        """See :class:`runner.controller.shrinking.trials.Player`."""
        assert self._bench.settled.incident is not None
        return seen_in(incident_of(self._bench.settled.incident, candidate), self._run(candidate))

    def cancel(self) -> None:
        """End what is under way; from any thread."""
        with self._lock:
            self._cancelled = True
            under_way = list(self._open)
        for session in under_way:
            session.cancel()

    def _run(self, candidate: Candidate) -> Left:
        settled = settled_for(self._bench.settled, candidate)
        bench, plan = self._bench, driver_plan(settled, self._bench.driver_image)
        with ExitStack() as stack:
            job = stack.enter_context(sealed_job(settled))
            session = stack.enter_context(
                open_session(bench.backend, settled, bench.image, bench.sealed or job, plan, job))
            stack.enter_context(self._counted(session))
            observation = observe_one(session.prepare(1))
        if observation.status.cause is Cause.CANCELLED:
            raise Interrupted("interrupted")
        return left_by(observation)

    @contextmanager
    def _counted(self, session: Session) -> Iterator[None]:
        """Whoever cancels knows the session from here on."""
        with self._lock:
            if self._cancelled:
                raise Interrupted("interrupted")
            self._open.add(session)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(session)


def settled_for(settled: SettledSession, candidate: Candidate) -> SettledSession:
    """One run of this candidate, which leaves nothing but its outcome, within the time that its own steps need."""
    job = job_for(settled.job, candidate)
    seconds = min(session_seconds(job), settled.times.run)
    return replace(settled, request=replace(settled.request, runs=1, jobs=1), job=job,
                   times=replace(settled.times, run=seconds))


def job_for(job: Job, candidate: Candidate) -> Job:
    """The job with a candidate's steps and faults."""
    race = replace(job.race, lanes=candidate.lanes) if job.race else None
    return replace(job, trace=candidate.trace, api_faults=candidate.api_faults, state_faults=candidate.state_faults,
                   race=race, outputs=_NOTHING)


def seen_in(incident: Incident, left: Left) -> Seen:
    """Which of the recorded failures a run showed. One that ended for want of an element showed none; ``None`` when the
    browser ended in the middle, the page no longer answered, a race could not begin, or nothing was seen and a step had
    no effect, as on a host that is too busy.

    Raises SetupError when nothing was played: then no other candidate would be either.
    """
    outcome, judgement = judged_session(incident, left)
    match judgement.kind:
        case "not_run":
            raise SetupError(f"nothing could be played: {printable(judgement.detail)[:500]}")
        case "diverged" if judgement.divergence is None:
            return None
        case "diverged" if outcome is None or not _went_on(outcome):
            return frozenset()
        case "judged" | "diverged":
            idle = outcome is not None and any(step.state in ("failed", "skipped") for step in outcome.steps)
            return frozenset(identity.id for identity in judgement.found) if judgement.found or not idle else None
        case _:
            return None


def _went_on(outcome: Outcome) -> bool:
    """Whether everything was tried, and something taken after a step that could not be: a burst of LOKI's may have been
    without its element in the recording too.
    """
    states = [step.state for step in outcome.steps]
    return "skipped" not in states and "missing" not in states[-1:]
