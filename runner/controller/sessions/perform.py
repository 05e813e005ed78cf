"""The straight line of a browser session: an application and a job go in, judged runs and evidence come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.browser.job import JOB_FILE, write_job
from runner.browser.outcome import OUTPUT_FOLDER
from runner.controller.bounds import seal_limits
from runner.controller.line import UNWATCHED, Gathered, Progress, Replayed, cleanup_after, cut_short, run_all
from runner.controller.records import fingerprint_record
from runner.controller.sessions.document import SessionFindings, opening_of, result_of, started_record
from runner.controller.sessions.request import DRIVER_ARGV, SettledSession
from runner.errors import PayloadChanged, RunnerError
from runner.evidence.database import store_root
from runner.evidence.files import check_outside
from runner.evidence.mask import Masker
from runner.evidence.observation import Observation
from runner.evidence.store import RunDirectory, new_run_id, place_of_run
from runner.evidence.verdict import Judged, Verdict
from runner.payload.seal import SealedPayload, check_unchanged, seal
from runner.sandbox.backends import open_pair_backend
from runner.sandbox.backends.base import PairBackend, Plan, Session
from runner.sandbox.image import ResolvedImage

ARTIFACTS = (f"{OUTPUT_FOLDER}/**",)


@dataclass(frozen=True, slots=True)
class Workshop:
    """What one kind of session does with its runs: judge each, decide over all, and leave its files."""

    judge: Callable[[Observation], Judged]
    decide: Callable[[tuple[Judged, ...]], Verdict]
    finish: Callable[[RunDirectory, SessionFindings], SessionFindings]


def perform(settled: SettledSession, workshop: Workshop, *, out: Path | None = None,
            progress: Progress = UNWATCHED, backend: PairBackend | None = None) -> Replayed:
    """The straight line. Raises RunnerError before anything ran; a fault later is in the outcome, with the runs that
    were finished.
    """
    started, run_id = datetime.now(UTC), new_run_id()
    place = _checked_place(settled, run_id, out)
    with ExitStack() as stack:
        backend = backend or open_pair_backend()
        facts = backend.probe()
        driver_image = driver_image_of(settled, backend)
        image = None if settled.target is None else backend.resolve_image(settled.image)
        job = stack.enter_context(sealed_job(settled))
        sealed = job if settled.payload is None else seal(settled.payload, seal_limits(settled.policy))
        directory = stack.enter_context(RunDirectory(opening_of(settled, run_id, started, place),
                                                     Masker(settled.env)))
        directory.write("manifest.txt", sealed.manifest.render(exact=True))
        directory.begin(("replay.started", started_record(settled, image, driver_image)),
                        ("payload.sealed", fingerprint_record(sealed.fingerprint).model_dump()))
        runs = Gathered(workshop.judge, directory, progress, facts)
        driving = driver_plan(settled, driver_image)
        opened = open_session(backend, settled, image, sealed, driving, job)
        fault = run_all(opened, driving, runs, partial(check_unchanged, sealed))
        found = SessionFindings(run_id=run_id, started=started, place=place, facts=runs.facts, image=image,
                                driver_image=driver_image, plan=driving, sealed=sealed, judged=runs.in_order())
        found = workshop.finish(directory, _conclude(workshop, found, fault))
        return Replayed(directory.finish(result_of(settled, found, datetime.now(UTC))), directory.path, fault)


def driver_image_of(settled: SettledSession, backend: PairBackend) -> ResolvedImage:
    """The browser's image: ours, or the one that a person chose. Raises ImageUnavailable."""
    chosen = settled.request.browser_image
    image = backend.own_image("browser") if chosen is None else backend.resolve_image(chosen)
    assert image is not None  # an engine has images
    return image


def _checked_place(settled: SettledSession, run_id: str, out: Path | None) -> Path:
    """Where the evidence goes: never into the payload. Raises UsageError."""
    place = place_of_run(run_id, out)
    if settled.payload is not None:
        check_outside(place, settled.payload, "choose a place outside with --out")
        check_outside(store_root(), settled.payload,
                      "call runner from outside the payload, or set RUNNER_STORE to a directory elsewhere")
    return place


@contextmanager
def sealed_job(settled: SettledSession) -> Iterator[SealedPayload]:
    """The driver's own small payload. It is read when it is put, so it stays until the session is over."""
    with TemporaryDirectory(prefix="runner-job-") as folder:
        Path(folder, JOB_FILE).write_bytes(write_job(settled.job))
        yield seal(folder, seal_limits(settled.driver_policy))


def driver_plan(settled: SettledSession, image: ResolvedImage) -> Plan:
    """What the driver's container is to do. A race is not disturbed by the next browser's start."""
    request = settled.request
    jobs = min(request.jobs, request.runs)
    ahead = 0 if settled.job.mode == "race" else min(1, request.runs - jobs)
    return Plan(argv=DRIVER_ARGV, cwd=".", env=(), policy=settled.driver_policy, timeout=settled.times.in_all,
                runs=request.runs, jobs=jobs, ahead=ahead, image=image, artifacts=ARTIFACTS,
                network=settled.network)


def target_plan(settled: SettledSession, driving: Plan, image: ResolvedImage | None) -> Plan:
    """What the application's container is to do."""
    assert settled.target is not None
    workload = settled.target
    return replace(driving, argv=workload.command_line, cwd=workload.cwd, env=settled.env, policy=settled.policy,
                   image=image, artifacts=(), shell_speaks=workload.shell_speaks)


def open_session(backend: PairBackend, settled: SettledSession, image: ResolvedImage | None, sealed: SealedPayload,
                 driving: Plan, job: SealedPayload) -> AbstractContextManager[Session]:
    """The containers of a session: an application with its driver, or a driver alone."""
    if settled.target is None:
        return backend.open(driving, job)
    return backend.open_pair(target_plan(settled, driving, image), sealed, driving, job, settled.times)


def _conclude(workshop: Workshop, found: SessionFindings, fault: RunnerError | None) -> SessionFindings:
    if fault is None:
        return replace(found, verdict=workshop.decide(found.judged))
    return replace(found, verdict=cut_short(fault), error=fault.message, cleanup=cleanup_after(fault),
                   payload_unchanged=not isinstance(fault, PayloadChanged))
