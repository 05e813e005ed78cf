"""``replay``: a report and a payload go in, a verdict with evidence comes out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from runner.controller.document import Findings, opening_of, result_of, started_record
from runner.controller.line import UNWATCHED, Gathered, Progress, Replayed, cleanup_after, cut_short, run_all
from runner.controller.records import fingerprint_record
from runner.controller.sealing import seal_for, working_copy
from runner.controller.settle import Settled, wanted_image
from runner.errors import PayloadChanged, RunnerError
from runner.evidence.database import store_root
from runner.evidence.files import check_outside
from runner.evidence.mask import Masker
from runner.evidence.observation import Observation
from runner.evidence.store import RunDirectory, new_run_id, place_of_run
from runner.evidence.verdict import Judged, decide
from runner.oracles.judge import judge
from runner.oracles.match import Matcher
from runner.oracles.signature.surefire import SUREFIRE_GLOB
from runner.oracles.trivial import trivial_reasons
from runner.payload.seal import check_unchanged
from runner.sandbox.backends import open_backend
from runner.sandbox.backends.base import Backend, Plan
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import with_runtime

_AHEAD = 2

def replay(settled: Settled, *, out: Path | None = None, progress: Progress = UNWATCHED,
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
        runs = Gathered(partial(_judge, settled, matcher), directory, progress, facts)
        plan = plan_of(settled, image)
        fault = run_all(backend.open(plan, sealed), plan, runs, partial(check_unchanged, sealed))
        findings = _conclude(settled, Findings(facts=runs.facts, image=image, plan=plan, sealed=sealed, match=match,
                                            judged=runs.in_order()), fault)
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


def _judge(settled: Settled, matcher: Matcher, observation: Observation) -> Judged:
    """The oracle settles the cause too: a full volume counts only if the failure did not show all the same."""
    judgement = judge(settled.case.contract, observation, matcher)
    if judgement.cause is not None and judgement.cause is not observation.status.cause:
        observation = replace(observation, status=replace(observation.status, cause=judgement.cause))
    return Judged(observation, judgement)


def _conclude(settled: Settled, found: Findings, fault: RunnerError | None) -> Findings:
    if fault is None:
        return replace(found, verdict=decide(found.judged, settled.request.runs, settled.clamped))
    return replace(found, verdict=cut_short(fault), error=fault.message,
                   payload_unchanged=not isinstance(fault, PayloadChanged), cleanup=cleanup_after(fault))
