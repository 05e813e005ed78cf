"""What a person asks of a load run, and everything that is decided before anything starts. No engine."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from runner.browser.job import Ready
from runner.controller.bounds import Network
from runner.controller.loads.places import Place, reach
from runner.controller.loads.recorded import RecordedLoad
from runner.controller.sessions.request import Application, check_url
from runner.errors import UsageError, printable
from runner.load.outcome import LAUNCHED_LINE, READY_LINE
from runner.sandbox.backends.base import PairTimes
from runner.sandbox.image import ImagePin
from runner.sandbox.policy import Policy, load_policy
from runner.scenarios.load import load_scenario
from runner.scenarios.model import Scenario
from runner.sources.environment import is_environment_name, parse_env_options
from runner.workloads.command import CommandWorkload

LOAD_POLICY = "load"
GREETING = LAUNCHED_LINE + READY_LINE
"""What a driver has said once the application has answered."""
_LAUNCH_SECONDS = 60.0
_AROUND = 30.0
"""Seconds beside the scenario's own budget: for stopping k6, and for cleaning up after it."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One run of a scenario. ``application.env`` is the application's; ``env`` the scenario's: ``NAME=VALUE``, or
    ``NAME`` for this process's own value. ``hooks_on_network``: command fixtures may run where there is a network.
    ``recorded`` is an earlier run to tell the differences from, ``series`` the name of those that this run is one of.
    """

    scenario: str
    application: Application
    seed: int = 0
    env: tuple[str, ...] = field(default=(), repr=False)
    policy: str | None = None
    hooks_on_network: bool = False
    recorded: RecordedLoad | None = None
    series: str | None = None


@dataclass(frozen=True, slots=True)
class SettledLoad:
    """A load run with every decision made.

    ``command`` is ``None`` for an application that runs elsewhere; ``places`` are then where it may be reached.
    ``env`` are the scenario's variables, ``application_env`` the application's; neither is ever shown.
    """

    request: LoadRequest
    scenario: Scenario
    command: CommandWorkload | None
    payload: str | None
    target: str
    ready: Ready
    image: ImagePin | str | None
    policy: Policy
    driver_policy: Policy
    network: Network
    places: tuple[Place, ...]
    times: PairTimes
    env: tuple[tuple[str, str], ...] = field(repr=False)
    application_env: tuple[tuple[str, str], ...] = field(repr=False)


def settle_load(request: LoadRequest) -> SettledLoad:
    """Decide. Raises InputError for a scenario that breaks a rule, UsageError, PolicyError."""
    application = request.application
    scenario = load_scenario(request.scenario, request.seed)
    if application.url is None:
        raise UsageError("where does the application listen?", hint="say it with --target-url http://127.0.0.1:PORT")
    check_url(application.url)
    target = application.url.rstrip("/")
    env = scenario_environment(scenario, request.env)
    places: tuple[Place, ...] = ()
    network: Network = "none"
    if application.command is None:
        network, places = _elsewhere(request, scenario, target, env)
    elif application.payload is None:
        raise UsageError("--target-command needs the application's files", hint="name their directory with --payload")
    ready = Ready(application.ready, application.ready_status, application.ready_timeout or 30.0)
    driver_policy, policy = load_policy(LOAD_POLICY), load_policy(request.policy or "default")
    if policy.runtime is not None:
        raise UsageError(f"the policy {policy.name} names the runtime {policy.runtime}, under which two containers "
                         "cannot share loopback", hint="use --policy default")
    seconds = min(scenario.budgets.max_seconds + _AROUND, driver_policy.timeout)
    return SettledLoad(
        request=request, scenario=scenario, payload=application.payload, target=target, ready=ready,
        command=None if application.command is None else CommandWorkload(shell=application.command),
        image=application.image, policy=policy, driver_policy=driver_policy, network=network, places=places,
        times=PairTimes(_LAUNCH_SECONDS, ready.timeout, seconds, LAUNCHED_LINE, GREETING), env=env,
        application_env=parse_env_options(application.env))


def scenario_environment(scenario: Scenario, given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The variables that a person gives to the scenario. Nothing of this process's environment gets there unless it is
    named. Raises UsageError, which names what is missing.
    """
    pairs = parse_env_options([_own(option) for option in given])
    names = {name for name, _ in pairs}
    reserved = sorted(name for name in names if name.startswith(("LT_", "K6_")))
    if reserved:
        raise UsageError(f"--env {reserved[0]}: names that begin with LT_ and K6_ are set by the run itself")
    missing = [name for name in scenario.environment if name not in names]
    if missing:
        shown = ", ".join(map(printable, missing[:8]))
        raise UsageError(f"the scenario speaks of variables that were not given: {shown}",
                         hint=" ".join(f"--env {name}=VALUE" for name in missing[:3])
                         + "; or --env NAME alone, to hand over this shell's")
    return pairs


def _own(option: str) -> str:
    """``NAME`` alone means this process's value."""
    if "=" in option or not is_environment_name(option):
        return option
    if option not in os.environ:
        raise UsageError(f"--env {printable(option)}: this shell has no such variable", hint="write NAME=VALUE")
    return f"{option}={os.environ[option]}"


def _elsewhere(request: LoadRequest, scenario: Scenario, target: str,
               env: tuple[tuple[str, str], ...]) -> tuple[Network, tuple[Place, ...]]:
    """An application that runs already: the network that reaches it, and the only places that may be reached."""
    if request.application.payload is not None:
        raise UsageError("--payload: these files need a command that serves them",
                         hint="say with --target-command how the application is started")
    if scenario.hooks is not None and not request.hooks_on_network:
        raise UsageError("the scenario's own commands would run where there is a network",
                         hint="start the application here with --payload and --target-command, or accept it with "
                              "--hooks-on-network")
    given = dict(env)
    origins = {look.origin or given.get(look.origin_env or "", "") for look in scenario.observations} - {""}
    places = reach((target, *sorted(origins)))
    return ("host" if any(place.loopback for place in places) else "bridge"), places
