"""How long a session may take: from what it is to do, never from a fixed number."""

from __future__ import annotations

from runner.browser.job import Job
from runner.browser.outcome import LAUNCHED_LINE, READY_LINE
from runner.browser.trace import Click, Step, Throttle

GREETING = LAUNCHED_LINE + READY_LINE
"""What a driver has said once the application has answered."""

LAUNCH_SECONDS = 60.0
"""For the browser to start, which an application that is quick has to wait for."""

_OPENING = 60.0
"""Seconds for the first navigation, the end, and the files."""
_STEP = 4.0
"""Seconds that a step may take besides its recorded delays: an element that is waited for, a page that loads."""
_RELOAD = 12.0
_RACE = 60.0
_PER_CHAOS_STEP = 6.0
_STEPS_PER_SECOND = 6


def session_seconds(job: Job) -> float:
    """Seconds from the moment the application answers."""
    faults = sum(fault.delay_ms for fault in job.api_faults) / 1000 + _RELOAD * len(job.state_faults)
    seconds = _OPENING + faults + sum(_step_seconds(step) for step in job.trace)
    if job.race is not None:
        seconds += _RACE + 2 * job.race.lanes
    if job.chaos is not None:
        steps = job.chaos.steps or int(job.chaos.duration_ms / 1000 * _STEPS_PER_SECOND) + 1
        seconds += _PER_CHAOS_STEP * steps
    return seconds


def _step_seconds(step: Step) -> float:
    if isinstance(step, Click):
        return _STEP + step.repeat * (step.delay_ms / 1000 + 0.5)
    if isinstance(step, Throttle):
        return _STEP + step.latency_ms / 1000
    return _STEP
