"""What a person asks of a browser session, and everything that is decided before anything starts. No engine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urlsplit

from runner.browser.job import Job, Ready
from runner.browser.outcome import LAUNCHED_LINE
from runner.controller.bounds import MAX_JOBS, MAX_RUNS, Network
from runner.controller.sessions.times import GREETING, LAUNCH_SECONDS, session_seconds
from runner.errors import UsageError, printable
from runner.incidents.model import Incident
from runner.incidents.normalise import LOOPBACK
from runner.sandbox.backends.base import PairTimes
from runner.sandbox.image import ImagePin
from runner.sandbox.policy import Policy, load_policy
from runner.sources.environment import parse_env_options
from runner.workloads.command import CommandWorkload

BROWSER_POLICY = "browser"
DRIVER_ARGV = ("/usr/bin/python3", "-I", "-S", "-B", "/opt/runner/driver/driver.py", "/workspace")
_HIGHEST_PORT, _LONGEST_URL = 65535, 16_384


@dataclass(frozen=True, slots=True)
class Application:
    """The application under test, as a person names it. ``None``: not said.

    Without a ``command`` it runs elsewhere already, and a network must be opted in to. ``ready`` is a path,
    ``ready_timeout`` is in seconds.
    """

    payload: str | None = None
    command: str | None = None
    url: str | None = None
    ready: str | None = None
    ready_status: int | None = None
    ready_timeout: float | None = None
    reset: str | None = None
    image: str | None = None
    env: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """How a session is to be run, whatever is played in it. ``timeout`` is seconds per run."""

    application: Application
    runs: int = 1
    jobs: int = 1
    policy: str | None = None
    network: Network | None = None
    browser_image: str | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class SettledSession:
    """A session with every decision made. ``incident`` is ``None`` while one is being recorded.

    ``target`` is ``None`` for an application that runs elsewhere; ``image`` is what its container is made from.
    ``env`` holds the caller's values and is never shown.
    """

    request: SessionRequest
    job: Job
    incident: Incident | None
    target: CommandWorkload | None
    payload: str | None
    image: ImagePin | str | None
    policy: Policy
    driver_policy: Policy
    network: Network
    times: PairTimes
    env: tuple[tuple[str, str], ...] = field(repr=False)


def settle_session(request: SessionRequest, job: Job, incident: Incident | None = None,
                   image: ImagePin | str | None = None) -> SettledSession:
    """Decide; ``job`` knows its URL already. Raises UsageError, PolicyError, EnvironmentMismatch."""
    _check(request)
    application = request.application
    check_url(job.url)
    if application.command is None:
        _check_elsewhere(request)
    elif not application.command.strip():
        raise UsageError("--target-command: is empty", hint="say how the application is started")
    elif application.payload is None:
        raise UsageError("--target-command needs the application's files", hint="name their directory with --payload")
    elif request.network is not None:
        raise UsageError("--docker-network: the application and the browser share loopback, and nothing else",
                         hint="leave it out, or leave --target-command out to reach an application elsewhere")
    else:
        _check_loopback(job.url)
    driver_policy = load_policy(BROWSER_POLICY)
    policy = load_policy(request.policy or "default")
    if policy.runtime is not None:
        raise UsageError(f"the policy {policy.name} names the runtime {policy.runtime}, under which two containers "
                         "cannot share loopback", hint="use --policy default")
    ready = _ready(application, job.ready)
    seconds = min(request.timeout or session_seconds(job), driver_policy.timeout)
    target = None if application.command is None else CommandWorkload(shell=application.command)
    return SettledSession(
        request=request, job=replace(job, ready=ready, reset=_reset(application) or job.reset, hold=target is not None),
        incident=incident, target=target,
        payload=application.payload, image=application.image or image, policy=policy,
        # Two containers of the engine's own kernel: a preferred runtime is for commands.
        driver_policy=driver_policy, network=request.network or "none",
        times=PairTimes(LAUNCH_SECONDS, ready.timeout, seconds, LAUNCHED_LINE, GREETING),
        env=parse_env_options(application.env))


def check_url(url: str) -> None:
    """An http(s) URL with a host. Raises UsageError."""
    shown = printable(url)[:200]
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"--target-url {shown}: not a URL", hint="write it as http://127.0.0.1:PORT/") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--target-url {shown}: expected http or https and a host",
                         hint="write it as http://127.0.0.1:PORT/")
    if parts.username is not None or parts.password is not None:
        raise UsageError("--target-url: has a user name or a password, which no recording keeps",
                         hint="leave out what is before the @")
    if not url.isprintable() or " " in url or len(url) > _LONGEST_URL:
        raise UsageError(f"--target-url {shown}: not a URL", hint="write it as http://127.0.0.1:PORT/")
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        raise UsageError(f"--target-url {shown}: {port} is no port")


def _check_loopback(url: str) -> None:
    host = urlsplit(url).hostname or ""
    if host not in LOOPBACK and not host.startswith("127."):
        raise UsageError(f"--target-url {printable(url)[:200]}: the application and the browser share loopback, and "
                         "nothing else", hint="write it as http://127.0.0.1:PORT/, with the port it listens on")


def _ready(application: Application, recorded: Ready) -> Ready:
    """What a person says of it, over what was recorded."""
    timeout = recorded.timeout if application.ready_timeout is None else application.ready_timeout
    if not 0 < timeout <= 3600:
        raise UsageError(f"--ready-timeout {timeout:g}: expected seconds, more than 0 and at most an hour")
    if application.ready is None:
        return replace(recorded, timeout=timeout)
    if not application.ready.startswith("/"):
        raise UsageError(f"--ready {printable(application.ready)[:200]}: expected a path such as /healthz")
    return Ready(application.ready, application.ready_status, timeout)


def _reset(application: Application) -> str | None:
    if application.reset is not None and not application.reset.startswith("/"):
        raise UsageError(f"--reset {printable(application.reset)[:200]}: expected a path such as /api/reset")
    return application.reset


def _check(request: SessionRequest) -> None:
    if not 1 <= request.runs <= MAX_RUNS:
        raise UsageError(f"--runs {request.runs}: expected 1 to {MAX_RUNS}")
    if not 1 <= request.jobs <= MAX_JOBS:
        raise UsageError(f"--jobs {request.jobs}: expected 1 to {MAX_JOBS}")
    timeout = request.timeout
    if timeout is not None and not 0 < timeout <= 24 * 3600:
        raise UsageError(f"--timeout {timeout:g}: expected seconds, more than 0 and at most a day")


def _check_elsewhere(request: SessionRequest) -> None:
    application = request.application
    if application.payload is not None:
        raise UsageError("--payload: these files need a command that serves them",
                         hint="say with --target-command how the application is started")
    if request.network is None:
        raise UsageError("how is the application started?",
                         hint="--payload DIR --target-command CMD; one that runs elsewhere is reached by --target-url "
                              "with --docker-network bridge or host, which leaves the sandbox")


Orientation = Literal["portrait", "landscape"]
