"""``record``: learn a contract from a failing command, and refuse what would not be worth replaying."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from runner.case import RecordedEnvironment, RequestedLimits
from runner.controller.bounds import seal_limits
from runner.controller.observe import RunsCut, observe
from runner.errors import FlakyFailure, NoVerdict, UsageError
from runner.evidence.observation import Observation, Workspace
from runner.oracles.contract import Contract
from runner.oracles.judge import judge
from runner.oracles.judgement import Judgement
from runner.oracles.match import Matcher
from runner.oracles.propose import Wanted, disagreements, propose_contract
from runner.oracles.signature.learn import SignatureKind
from runner.oracles.signature.surefire import SUREFIRE_GLOB
from runner.oracles.trivial import trivial_reasons
from runner.payload.seal import SealedPayload, check_unchanged, seal
from runner.sandbox.backends import open_backend
from runner.sandbox.backends.base import Backend, Plan
from runner.sandbox.exit import RESOURCE_CAUSES, Cause
from runner.sandbox.image import ResolvedImage
from runner.sandbox.policy import Policy, clamp, load_policy, with_runtime
from runner.sources.environment import environment_sha256, parse_env_options
from runner.workloads.command import CommandWorkload

MAX_RECORD_RUNS = 100


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """What a person asks for. ``signature``: ``auto``, a kind, or ``None`` for no signature at all."""

    payload: str
    workload: CommandWorkload
    runs: int = 3
    match: str | None = None
    exit_code: int | None = None
    signature: SignatureKind | None = "auto"
    image: str | None = None
    backend: Literal["docker", "host"] = "docker"
    policy: str = "default"
    timeout: float | None = None
    env: tuple[str, ...] = field(default=(), repr=False)
    limits: RequestedLimits = field(default_factory=RequestedLimits)
    fixed_env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A contract that held in every run, with everything a report needs."""

    request: RecordRequest
    created: datetime
    sealed: SealedPayload
    image: ResolvedImage | None
    policy: Policy
    timeout: float
    environment: RecordedEnvironment
    contract: Contract
    observations: tuple[Observation, ...]

    @property
    def exit_code(self) -> int:
        """What the command returned, in every run."""
        code = self.observations[0].status.returncode
        return code if code is not None else 0


def record(request: RecordRequest, *, progress: Callable[[Observation], None] = lambda _: None,
           backend: Backend | None = None) -> Recording:
    """Run the command on fresh copies and learn its contract.

    Raises FlakyFailure when the runs disagree, NoVerdict when the failure cannot be judged again (it timed out,
    ran out of memory, could not start), UsageError when the contract would be trivial.
    """
    created = datetime.now(UTC)
    given = _check(request)
    policy = load_policy(request.policy)
    timeout = request.timeout if request.timeout is not None else policy.timeout
    with ExitStack() as stack:
        matcher = stack.enter_context(Matcher(request.match))
        matcher.compile_check()
        backend = backend or open_backend(request.backend)
        runtimes = backend.probe().runtimes
        image = backend.resolve_image(request.image)
        sealed = seal(request.payload, seal_limits(policy))
        policy = with_runtime(_lowered(policy, request, sealed), runtimes)
        plan = _plan(request, policy, timeout, image, (*request.fixed_env, *given))
        observations = _observe(backend, plan, sealed, request, progress)
        check_unchanged(sealed)
        contract = _contract(request, observations, matcher)
        _prove(contract, observations, matcher)
    names = tuple(sorted(name for name, _ in given))
    return Recording(request, created, sealed, image, policy, timeout,
                     RecordedEnvironment(names, environment_sha256(given)), contract, observations)


def _check(request: RecordRequest) -> tuple[tuple[str, str], ...]:
    if not 1 <= request.runs <= MAX_RECORD_RUNS:
        raise UsageError(f"--runs {request.runs}: expected 1 to {MAX_RECORD_RUNS}")
    if request.exit_code == 0 and not request.match:
        raise UsageError("exit code 0 without --match is no failure to record", hint="add --match RE")
    return parse_env_options(request.env, reserved=[name for name, _ in request.fixed_env])


def _lowered(policy: Policy, request: RecordRequest, sealed: SealedPayload) -> Policy:
    policy, clamps = clamp(policy, request.limits, payload_bytes=sealed.bytes)
    if clamps:
        raise UsageError(f"the policy {policy.name} allows {clamps[0].name} {clamps[0].used}, not "
                         f"{clamps[0].asked}", hint="ask for less, or name another --policy")
    return policy


def _plan(request: RecordRequest, policy: Policy, timeout: float, image: ResolvedImage | None,
          env: tuple[tuple[str, str], ...]) -> Plan:
    workload = request.workload
    return Plan(argv=workload.command_line, cwd=workload.cwd, env=env, policy=policy, timeout=timeout,
                runs=request.runs, ahead=min(2, request.runs - 1), image=image,
                shell_speaks=workload.shell_speaks, artifacts=(*workload.artifacts, SUREFIRE_GLOB))


def _observe(backend: Backend, plan: Plan, sealed: SealedPayload, request: RecordRequest,
             progress: Callable[[Observation], None]) -> tuple[Observation, ...]:
    """All runs; the first that cannot be judged ends the recording, since the others would change nothing."""
    def on_run(seen: Observation) -> None:
        progress(seen)
        _refuse_unjudgeable(seen, request)

    try:
        with backend.open(plan, sealed) as session:
            return observe(session, plan, on_run)
    except RunsCut as cut:
        raise (cut.__cause__ or cut) from None


def _refuse_unjudgeable(seen: Observation, request: RecordRequest) -> None:
    """A run that timed out or ran out of something is never accepted, so there is nothing to record."""
    status = seen.status
    if status.cause is Cause.TIMED_OUT or status.cause in RESOURCE_CAUSES:
        raise NoVerdict(f"run {seen.index} ended as {status.cause}: such a run is never accepted by a replay",
                        hint="make the failure finish by itself, within the policy's limits")
    if status.cause is Cause.NOT_STARTED:
        raise UsageError(f"nothing ran: {status.detail}", hint="check that the image has the command")
    if seen.workspace in (Workspace.FULL_BYTES, Workspace.FULL_INODES) and not request.match:
        raise NoVerdict(f"run {seen.index} filled its work volume: what failed may be the sandbox's limit",
                        hint="name a --policy with a larger work volume; if that is the failure, say so with --match")
    if status.cause not in (Cause.EXITED, Cause.SIGNALED):
        raise NoVerdict(f"run {seen.index} ended as {status.cause}: {status.detail or 'nothing to record'}",
                        hint="try again; `runner doctor` checks the engine")


def _contract(request: RecordRequest, observations: tuple[Observation, ...], matcher: Matcher) -> Contract:
    wanted = Wanted(request.match, request.exit_code, request.signature)
    differences = disagreements(observations, matcher, wanted)
    if differences:
        raise FlakyFailure(f"the failure is flaky: {differences[0]}",
                           hint="fix what varies (time, random seeds, order), then record again")
    contract = propose_contract(observations, matcher, wanted).contract
    reasons = trivial_reasons(contract, matcher)
    if request.match and not reasons:
        # A pattern that anything meets is a mistake, also where a signature makes up for it.
        reasons = trivial_reasons(Contract(contract.exit_code, request.match), matcher)
    if reasons:
        raise UsageError(f"the contract would be trivial: {reasons[0]}",
                         hint="name what is specific to the failure with --match or --exit-code")
    return contract


def _prove(contract: Contract, observations: tuple[Observation, ...], matcher: Matcher) -> None:
    """The contract must hold in every run it was learned from, by the same oracle a replay uses."""
    judged: list[tuple[Observation, Judgement]] = [
        (seen, judge(contract, seen, matcher)) for seen in observations]
    failed = [(seen, judgement) for seen, judgement in judged if not judgement.accepted]
    if not failed:
        return
    seen, judgement = failed[0]
    said = f"run {seen.index} does not meet it ({judgement.mismatch_reason}"
    said += f": {judgement.detail})" if judgement.detail else ")"
    if len(failed) == len(observations):
        raise NoVerdict(f"the command does not fail as you say: {said}",
                        hint="check --exit-code, --match and --signature against the output")
    raise FlakyFailure(f"the failure is flaky: {said}, others do",
                       hint="fix what varies (time, random seeds, order), then record again")


