"""``runner replay`` of a browser session: a run directory of ours or LOKI's, or ``latest``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from runner.browser.job import Outputs
from runner.cli.plan import ReplayPlan
from runner.cli.sessions import take_application
from runner.controller.bounds import Network
from runner.controller.sessions.find import find_incident, is_known
from runner.controller.sessions.jobs import job_of, moved
from runner.controller.sessions.play import replay_session
from runner.controller.sessions.request import Application, SessionRequest, SettledSession, settle_session
from runner.errors import UsageError, printable
from runner.incidents.read import read_incident
from runner.sandbox.image import ImagePin
from runner.sandbox.sizes import format_size


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What a person says of the replay besides the application."""

    report: str
    runs: int
    jobs: int
    timeout: float | None
    policy: str | None
    network: Network | None
    browser_image: str | None
    video: bool


def plan_session(report: str, options: dict[str, Any]) -> ReplayPlan:
    """Settle what the options say. Raises UsageError, and as settle_session."""
    application = take_application(options)
    for name in ("backend", "exit_code", "inherit_env"):
        if options.pop(name) not in (None, False, "docker"):
            raise UsageError(f"--{name.replace('_', '-')}: is not for browser sessions, which run in the sandbox",
                             hint="leave it out")
    network = options.pop("docker_network")
    choice = SessionChoice(report=report, network=None if network == "none" else network, **options)
    settled = settle_replay(choice, application)
    return ReplayPlan(plan_text(settled), settled.request.runs, partial(replay_session, settled))


def settle_replay(choice: SessionChoice, application: Application) -> SettledSession:
    """The incident, with what it knows of its application where a person says nothing. Raises as settle_session."""
    incident = read_incident(find_incident(choice.report))
    own = incident.own
    image: ImagePin | None = None
    if own is not None and own.target is not None:
        recorded = own.target
        if not isinstance(recorded.command, str):
            raise UsageError(f"{printable(incident.path)}: the recorded command is no shell text",
                             hint="say it with --target-command")
        if application.command is None and application.url is None:
            application = replace(application, command=recorded.command)
        if application.command is not None and application.payload is None:
            application = replace(application, payload=_own_payload(choice.report, own.payload))
        image = ImagePin(recorded.image.id, recorded.image.name)
    if application.url is not None:
        incident = moved(incident, application.url)
    job = job_of(incident, Outputs(video=choice.video))
    request = SessionRequest(application, runs=choice.runs, jobs=choice.jobs, policy=choice.policy,
                             network=choice.network, browser_image=choice.browser_image, timeout=choice.timeout)
    return settle_session(request, job, incident, image)


def _own_payload(report: str, recorded: str) -> str:
    """Where the payload lay when it was recorded. Only this store's own word is taken for that: a stranger's run
    directory must not choose what is read here. Raises UsageError.
    """
    if recorded and is_known(find_incident(report)):
        return recorded
    raise UsageError(f"{printable(report)}: is no run of this store, and cannot say where the files are here",
                     hint="name their directory with --payload")


def plan_text(settled: SettledSession) -> str:
    """What would be run, for a person to decide."""
    incident, policy = settled.incident, settled.policy
    assert incident is not None
    limits = (f"memory {format_size(policy.memory)}, work {format_size(policy.work.size)}, pids {policy.pids}, "
              f"cpus {policy.cpus:g}")
    failures = "; ".join(failure.identity.key for failure in incident.failures[:10]) or "nothing"
    what = (f"{incident.race.lanes} lanes at once" if incident.race else f"{len(incident.trace)} steps")
    faults = f"{len(incident.api_faults)} API faults, {len(incident.state_faults)} state faults"
    rows = [
        ("application", settled.target.display if settled.target else f"runs elsewhere: {settled.job.url}"),
        ("payload", settled.payload or "none"),
        ("opens", settled.job.url),
        ("plays", f"{what} in {incident.browser}, {faults}"),
        ("expects", failures),
        ("network", "loopback only" if settled.network == "none" else settled.network),
        ("runs", f"{settled.request.runs}, each at most {settled.times.run:g} s"),
        ("policy", f"{policy.name}: {limits}; {settled.driver_policy.name} for the browser"),
    ]
    return "\n".join(f"{name:<12} {printable(str(value))}" for name, value in rows)
