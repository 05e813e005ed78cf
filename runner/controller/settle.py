"""Everything that is decided before anything starts: which policy, backend, timeout, environment. No engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.bundle.load import read_report_or_bundle
from runner.case import BackendName, Case
from runner.controller.bounds import MAX_JOBS, MAX_RUNS, Network
from runner.errors import ReportError, UsageError, printable
from runner.sandbox.policy import Clamp, Policy, clamp, load_policy
from runner.sources.environment import check_environment, parse_env_options
from runner.sources.load import parse_case

DEFAULT_TIMEOUT = 120.0


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What a person asks for. ``None`` means: not said. ``timeout`` is seconds per run.

    Without a ``payload`` the report is a bundle, which holds its own.
    """

    report: str
    payload: str | None = None
    runs: int = 1
    jobs: int = 1
    timeout: float | None = None
    env: tuple[str, ...] = field(default=(), repr=False)
    backend: Literal["recorded", "host", "docker"] | None = None
    docker_image: str | None = None
    docker_network: Network | None = None
    exit_code: int | None = None
    policy: str | None = None
    inherit_env: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """A case with every decision made. ``env`` holds the caller's values and is never shown."""

    request: ReplayRequest
    case: Case
    policy: Policy
    clamps: tuple[Clamp, ...]
    backend: BackendName
    network: Network
    timeout: float
    timeout_source: Literal["override", "report", "default"]
    env: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def clamped(self) -> frozenset[str]:
        """Limits that the report asked for and that the policy lowered."""
        lowered = {lowered.name for lowered in self.clamps}
        asked = self.case.execution.timeout_seconds
        if self.timeout_source == "report" and asked is not None and asked > self.timeout:
            lowered.add("timeout")
        return frozenset(lowered)


def settle(request: ReplayRequest) -> Settled:
    """Load the report and decide. Raises UsageError, ReportError, BundleRefused, PolicyError, EnvironmentMismatch."""
    _check_counts(request)
    case = _case(request)
    backend = _backend(request, case)
    if backend != "host" and request.inherit_env:
        raise UsageError("--inherit-env needs the host backend: nothing of this process reaches a container",
                         hint="give single variables with --env NAME=VALUE")
    if request.docker_image == "":
        raise UsageError("--docker-image: the name is empty", hint="name a local image")
    if backend == "host" and (request.docker_image is not None or request.docker_network is not None):
        raise UsageError("--docker-image and --docker-network need the docker backend",
                         hint="drop them, or use --backend docker")
    if backend == "host" and case.working_copy_problem:
        raise ReportError(f"{printable(case.path)}: {case.working_copy_problem}",
                          hint="replay it with --backend docker, which needs no such name")
    given = parse_env_options(request.env, reserved=[name for name, _ in case.fixed_env])
    check_environment(case.environment, given)
    policy, clamps = clamp(_policy(request, case), case.execution.limits, payload_bytes=case.payload.bytes)
    timeout, source = _timeout(request, case, policy)
    return Settled(request=request, case=case, policy=policy, clamps=clamps, backend=backend,
                   network=request.docker_network or "none", timeout=timeout, timeout_source=source,
                   env=(*case.fixed_env, *given))


def _check_counts(request: ReplayRequest) -> None:
    if not 1 <= request.runs <= MAX_RUNS:
        raise UsageError(f"--runs {request.runs}: expected 1 to {MAX_RUNS}")
    if not 1 <= request.jobs <= MAX_JOBS:
        raise UsageError(f"--jobs {request.jobs}: expected 1 to {MAX_JOBS}")
    timeout = request.timeout
    if timeout is not None and not 0 < timeout <= 7 * 24 * 3600:
        raise UsageError(f"--timeout {timeout}: expected seconds, more than 0 and at most a week")


def _case(request: ReplayRequest) -> Case:
    """The report, of a file of its own with a payload beside it, or of a bundle that holds both."""
    found = read_report_or_bundle(request.report)
    name = printable(request.report)
    if found.bundle is not None and request.payload is not None:
        raise UsageError(f"{name}: is a bundle, which holds its own payload", hint="leave --payload out")
    if found.bundle is None and request.payload is None:
        raise UsageError(f"{name}: is a report without its payload", hint="name the directory with --payload DIR")
    return parse_case(found.raw, path=request.report, exit_code=request.exit_code)


def _backend(request: ReplayRequest, case: Case) -> BackendName:
    """Docker unless a person says otherwise: a report never gets the host by itself."""
    if request.backend == "recorded":
        return case.execution.backend
    return request.backend or "docker"


def _policy(request: ReplayRequest, case: Case) -> Policy:
    """The person's choice; else ``default``, or ``strict`` if the report was made under it (it is tighter)."""
    if request.policy is not None:
        return load_policy(request.policy)
    return load_policy("strict" if case.execution.policy_name == "strict" else "default")


def _timeout(request: ReplayRequest, case: Case,
             policy: Policy) -> tuple[float, Literal["override", "report", "default"]]:
    if request.timeout is not None:
        return request.timeout, "override"
    if case.execution.timeout_seconds is not None:
        return min(case.execution.timeout_seconds, policy.timeout), "report"
    return min(DEFAULT_TIMEOUT, policy.timeout), "default"


def wanted_image(settled: Settled) -> str | None:
    """The image name a person chose, or ``None`` for the recorded pin. Raises ReportError without either."""
    if settled.request.docker_image is not None:
        return settled.request.docker_image
    execution = settled.case.execution
    if execution.backend == "docker" and execution.image is None:
        raise ReportError(f"{printable(settled.case.path)}: {execution.image_problem}",
                          hint="choose a local image with --docker-image NAME")
    return None
