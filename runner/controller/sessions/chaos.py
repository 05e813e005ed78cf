"""``chaos``: a persona plays with an application; what goes wrong becomes an incident that can be replayed."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from runner.browser.job import Chaos, Engine, Job, Outputs, Persona, Race
from runner.controller.sessions.request import Application
from runner.errors import UsageError

_LOKI_SEEDS = range(100_000, 1_000_000)
_MOST_STEPS = 5_000
_MOST_LANES = 32
_API_CHAOS = frozenset({"network-tormentor", "swarm"})
_STATE_CHAOS = frozenset({"novice-chaotic", "swarm"})


@dataclass(frozen=True, slots=True)
class ChaosRequest:
    """What a person asks for. ``None``: not said; the persona then decides on the kinds of chaos, as LOKI's do.

    ``duration`` is seconds of the page's own clock.
    """

    persona: Persona = "rage-clicker"
    seed: int | None = None
    steps: int | None = None
    duration: float | None = None
    device: str | None = None
    orientation: str = "portrait"
    browser: Engine = "chromium"
    api_chaos: bool | None = None
    auth_chaos: bool | None = None
    state_chaos: bool | None = None
    fault_rate: float = 0.3
    concurrency: int = 1
    selector: str | None = None
    own_browsers: bool = False
    video: bool = True
    sandbox: bool = True


def chaos_job(request: ChaosRequest, application: Application) -> Job:
    """The job of a session that is to be recorded. Raises UsageError."""
    _check(request, application)
    assert application.url is not None
    seed = request.seed if request.seed is not None else secrets.choice(_LOKI_SEEDS)
    racing = request.concurrency > 1
    outputs = Outputs(video=request.video and not racing, har=not racing, trace=not racing, screenshots=True,
                      dom=not racing)
    return Job(mode="race" if racing else "chaos", url=application.url, pace="recorded" if racing else "stepped",
               browser=request.browser, seed=seed, device=request.device, landscape=request.orientation == "landscape",
               sandbox=request.sandbox, reset=application.reset,
               chaos=None if racing else _chaos(request),
               race=_race(request) if racing else None, outputs=outputs)


def _race(request: ChaosRequest) -> Race:
    return Race(request.concurrency, request.selector, request.own_browsers)


def _chaos(request: ChaosRequest) -> Chaos:
    persona = request.persona
    api = _said(request.api_chaos, persona in _API_CHAOS)
    return Chaos(persona=persona, steps=request.steps,
                 duration_ms=int((5.0 if request.duration is None else request.duration) * 1000), api_chaos=api,
                 auth_chaos=_said(request.auth_chaos, api),
                 state_chaos=_said(request.state_chaos, persona in _STATE_CHAOS), fault_rate=request.fault_rate)


def _said(choice: bool | None, otherwise: bool) -> bool:
    return otherwise if choice is None else choice


def _check(request: ChaosRequest, application: Application) -> None:
    if application.url is None:
        raise UsageError("--target-url: say where the application listens",
                         hint="such as --target-url http://127.0.0.1:8000/")
    if request.steps is not None and request.duration is not None:
        raise UsageError("--steps and --duration: give one of them")
    if request.steps is not None and not 1 <= request.steps <= _MOST_STEPS:
        raise UsageError(f"--steps {request.steps}: expected 1 to {_MOST_STEPS}")
    if request.duration is not None and not 0 < request.duration <= 3600:
        raise UsageError(f"--duration {request.duration:g}: expected seconds, more than 0 and at most an hour")
    if not 0 <= request.fault_rate <= 1:
        raise UsageError(f"--fault-rate {request.fault_rate:g}: expected 0 to 1")
    if not 1 <= request.concurrency <= _MOST_LANES:
        raise UsageError(f"--concurrency {request.concurrency}: expected 1 to {_MOST_LANES}")
    if request.concurrency == 1 and (request.selector is not None or request.own_browsers):
        option = "--selector" if request.selector is not None else "--own-browsers"
        raise UsageError(f"{option}: is for several lanes", hint="add --concurrency N")
    if request.concurrency > 1 and (request.steps is not None or request.duration is not None):
        raise UsageError("--steps and --duration: a race is one click of each lane",
                         hint="leave them out, or leave --concurrency out")
    if request.seed is not None and not 0 <= request.seed < 1 << 53:
        raise UsageError(f"--seed {request.seed}: expected a whole number from 0 to 2^53 - 1")
