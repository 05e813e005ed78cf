"""Playing a recorded trace, step by step, each with its real effect."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from playwright.async_api import Error

from runner.browser.outcome import StepRecord, StepState
from runner.browser.trace import Step
from runner.driver.guard import Silent, first_line
from runner.driver.stage import Stage
from runner.driver.steps import Failed, Missing, take

LATE_SECONDS = 1.0
"""How long the answers to requests that are still under way are waited for at the end."""
_NAVIGATION_SECONDS = 1.5


async def perform(stage: Stage, step: Step) -> StepRecord:
    """Take one step on the stage's page; counts ``stage.step`` up. Raises Crashed, and nothing for what a page does.

    ``missing``: its element is not there, or cannot be seen, within 1.5 s. ``failed``: it is there, and the step had
    no effect on it all the same (a forced click on a disabled element is ``done``: users do that, too).
    """
    await _arrived(stage)
    stage.step += 1
    stage.detectors.next_step()
    started, state, detail = stage.clock_ms(), "done", ""
    try:
        detail = await take(stage, step)
    except Missing as error:
        state, detail = "missing", str(error)
    except (Failed, Silent) as error:
        state, detail = "failed", str(error)
    except Error as error:
        state, detail = "failed", first_line(error)
    stage.check()
    await stage.pace.settle(stage)
    await stage.looks.look()
    stage.check()
    return await _recorded(stage, started, state, detail)  # type: ignore[arg-type]


async def _recorded(stage: Stage, started: float, state: StepState, detail: str) -> StepRecord:
    ended = stage.clock_ms()
    fresh = stage.signals.fresh()
    shot = await stage.shots.take() if fresh or state in ("missing", "failed") else ""
    if shot:
        stage.signals.picture(fresh, shot)
    return StepRecord(stage.step, state, round(started, 1), round(ended, 1), detail[:2000], shot)


async def _arrived(stage: Stage) -> None:
    """A document that the step before asked for is waited for, a little: this step was recorded on it."""
    deadline = time.monotonic() + _NAVIGATION_SECONDS
    while stage.traffic.navigating() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)


async def play(stage: Stage, taken: Callable[[StepRecord], None]) -> tuple[StepRecord, ...]:
    """Take the steps of the job's trace until one is missing its element; the rest are ``skipped``. Each is handed to
    ``taken`` when it has ended. Raises Crashed.
    """
    trace, records = stage.job.trace, []
    for step in trace:
        record = await perform(stage, step)
        records.append(record)
        taken(record)
        if record.state == "missing":
            break
    now = round(stage.clock_ms(), 1)
    skipped = [StepRecord(index, "skipped", now, now) for index in range(len(records), len(trace))]
    for record in skipped:
        taken(record)
    return (*records, *skipped)


async def linger(stage: Stage) -> None:
    """At the end: what is under way may still fail, for at most a second; then the last look. Raises Crashed."""
    deadline = time.monotonic() + LATE_SECONDS
    while stage.traffic.under_way() and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    await stage.looks.finish()
    stage.check()
