"""``replay``: a report and a payload go in, a verdict with evidence comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from runner.controller.document import (
    Findings,
    fingerprint_record,
    opening_of,
    result_of,
    sample_of,
    started_record,
)
from runner.controller.observe import RunsCut, observe
from runner.controller.sealing import seal_for, working_copy
from runner.controller.settle import Settled, wanted_image
from runner.errors import Interrupted, PayloadChanged, RunnerError
from runner.evidence.database import store_root
from runner.evidence.files import check_outside
from runner.evidence.mask import Masker
from runner.evidence.observation import Observation
from runner.evidence.result import Result
from runner.evidence.store import RunDirectory, new_run_id, place_of_run
from runner.evidence.verdict import Judged, Verdict, VerdictKind, decide
from runner.oracles.judge import judge, unjudged
from runner.oracles.match import Matcher
from runner.oracles.signature.surefire import SUREFIRE_GLOB
from runner.oracles.trivial import trivial_reasons
from runner.payload.seal import SealedPayload, check_unchanged
from runner.sandbox.backends import open_backend
from runner.sandbox.backends.base import CLEANUP_INCOMPLETE, Backend, BackendFacts, Plan
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import with_runtime

_AHEAD = 2
Progress = Callable[[Judged], None]


@dataclass(frozen=True, slots=True)
class Replayed:
    """The outcome: the evidence and where it was put. ``fault`` is what cut the replay short, if anything."""

    result: Result
    directory: Path
    fault: RunnerError | None = None


def replay(settled: Settled, *, out: Path | None = None, progress: Progress = lambda _: None,
           backend: Backend | None = None) -> Replayed:
    """The straight line. Raises RunnerError before anything ran; a fault later is in the outcome, with the
    runs that were finished.
    """
    started, run_id = datetime.now(UTC), new_run_id()
    place = _checked_place(settled, run_id, out)
    with ExitStack() as stack:
        matcher = stack.enter_context(Matcher(settled.case.contract.match, _matching_budget(settled)))
        matcher.compile_check()
        warnings = tuple(f"trivial contract: {reason}" for reason in trivial_reasons(settled.case.contract, matcher))
        backend = backend or open_backend(settled.backend, inherit_env=settled.request.inherit_env)
        facts = backend.probe()
        settled = replace(settled, policy=with_runtime(settled.policy, facts.runtimes))
        warnings += tuple(_shared_kernel(settled))
        image = backend.resolve_image(wanted_image(settled) or settled.case.execution.image)
        sealed, match = seal_for(settled)
        opening = opening_of(settled, run_id, started, place)
        directory = stack.enter_context(RunDirectory(opening, Masker(settled.env)))
        directory.write("manifest.txt", sealed.manifest.render(exact=True))
        directory.begin(("replay.started", started_record(settled, image)),
                        ("payload.sealed", fingerprint_record(sealed.fingerprint).model_dump()))
        gathering = _Gathering(settled, matcher, directory, progress, facts)
        plan = plan_of(settled, image)
        fault = _run_all(backend, plan, sealed, gathering)
        findings = _conclude(settled, Findings(facts=gathering.facts, image=image, plan=plan, sealed=sealed,
                                               match=match, judged=tuple(gathering.judged)), fault)
        result = directory.finish(result_of(settled, findings, run_id, started, datetime.now(UTC), warnings))
        return Replayed(result, directory.path, fault)


def _checked_place(settled: Settled, run_id: str, out: Path | None) -> Path:
    """Where the evidence goes: never into the payload that is being judged. Raises UsageError."""
    place = place_of_run(run_id, out)
    if settled.request.payload is not None:
        check_outside(place, settled.request.payload, "choose a place outside with --out")
        check_outside(store_root(), settled.request.payload,
                      "call runner from outside the payload, or set RUNNER_STORE to a directory elsewhere")
    return place


class _Gathering:
    """Judges each run as it ends and puts it into the evidence, before anybody is told of it."""

    def __init__(self, settled: Settled, matcher: Matcher, directory: RunDirectory, progress: Progress,
                 facts: BackendFacts) -> None:
        self.judged: list[Judged] = []
        self.facts = facts
        self._settled = settled
        self._matcher = matcher
        self._directory = directory
        self._progress = progress

    def add(self, observation: Observation) -> None:
        """A run is over. Raises RunnerError."""
        try:
            run = _judge(self._settled, observation, self._matcher)
        except RunnerError as error:
            # A runaway pattern ends the replay, yet what was run is evidence.
            self._keep(Judged(observation, unjudged(error.message)))
            raise
        self._keep(run)
        self._progress(self.judged[-1])

    def _keep(self, run: Judged) -> None:
        kept = Judged(self._directory.keep(run.observation), run.judgement)
        self._directory.record("run.judged", sample_of(kept).model_dump(mode="json"))
        self.judged.append(kept)


def _matching_budget(settled: Settled) -> float:
    """Seconds for all searches together, so that a runaway pattern ends in an error rather than a hang."""
    return 10.0 + 0.1 * settled.request.runs


def _shared_kernel(settled: Settled) -> Iterator[str]:
    policy = settled.policy
    if settled.backend == "docker" and policy.runtime is None and policy.runtime_preferred is not None:
        yield (f"the policy {policy.name} prefers the runtime {policy.runtime_preferred}, which the engine does not"
               " have: the kernel was shared")


def plan_of(settled: Settled, image: ResolvedImage | None) -> Plan:
    """What the backend is asked to do."""
    case, workload = settled.case, settled.case.workload
    java = case.contract.signature is not None and case.contract.signature.kind == "java"
    jobs = min(settled.request.jobs, settled.request.runs)
    return Plan(argv=workload.command_line, cwd=workload.cwd, env=settled.env, policy=settled.policy,
                timeout=settled.timeout, runs=settled.request.runs, jobs=jobs,
                ahead=min(_AHEAD, settled.request.runs - jobs), image=image, network=settled.network,
                shell_speaks=workload.shell_speaks, working_copy=working_copy(settled),
                artifacts=(*workload.artifacts, SUREFIRE_GLOB) if java else workload.artifacts)


def _judge(settled: Settled, observation: Observation, matcher: Matcher) -> Judged:
    """The oracle settles the cause too: a full volume counts only if the failure did not show all the same."""
    judgement = judge(settled.case.contract, observation, matcher)
    if judgement.cause is not None and judgement.cause is not observation.status.cause:
        observation = replace(observation, status=replace(observation.status, cause=judgement.cause))
    return Judged(observation, judgement)


def _run_all(backend: Backend, plan: Plan, sealed: SealedPayload,
             gathering: _Gathering) -> RunnerError | None:
    """Run everything; a fault of the machinery is returned, an interrupt is raised."""
    seen: set[int] = set()

    def once(observation: Observation) -> None:
        seen.add(observation.index)
        gathering.add(observation)

    try:
        with backend.open(plan, sealed) as session:
            try:
                observe(session, plan, once)
            finally:
                gathering.facts = session.facts()
        check_unchanged(sealed)
    except RunsCut as cut:
        for observation in cut.finished:
            if observation.index not in seen:
                once(observation)
        if isinstance(cut.__cause__, RunnerError) and not isinstance(cut.__cause__, Interrupted):
            for note in getattr(cut, "__notes__", []):
                cut.__cause__.add_note(note)
            return cut.__cause__
        raise (cut.__cause__ or cut) from None
    except Interrupted:
        raise
    except RunnerError as error:
        return error
    return None


def _conclude(settled: Settled, found: Findings, fault: RunnerError | None) -> Findings:
    judged = tuple(sorted(found.judged, key=lambda run: run.observation.index))
    if fault is None:
        return replace(found, judged=judged, verdict=decide(judged, settled.request.runs, settled.clamped))
    said = (fault.message, f"what to do: {fault.hint}") if fault.hint else (fault.message,)
    return replace(found, judged=judged, verdict=Verdict(VerdictKind.NO_VERDICT, fault.exit_code, said),
                   payload_unchanged=not isinstance(fault, PayloadChanged), error=fault.message,
                   cleanup=_cleanup(fault))


def _cleanup(fault: RunnerError) -> str:
    notes: list[str] = getattr(fault, "__notes__", [])
    return CLEANUP_INCOMPLETE if CLEANUP_INCOMPLETE in notes else "complete"
