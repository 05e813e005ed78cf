"""Playing a recorded trace, step by step, each with its real effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from playwright.async_api import Error

from runner.browser.outcome import StepRecord, StepState
from runner.browser.trace import Step, is_burst
from runner.driver.elements import Failed, Missing, Unanswered
from runner.driver.guard import Silent, attempt, first_line
from runner.driver.stage import Crashed, Stage
from runner.driver.steps import pause_after, take

LATE_SECONDS = 1.0
"""How long the answers to requests that are still under way are waited for at the end."""
LAST_SECONDS = 10.0
"""How long a page that was frozen when it was last looked at is waited for, in all."""
MAX_LOST = 3
"""After so many bursts of clicks on end whose elements are missing, the rest of a trace is not tried."""
MAX_SILENT = 3
"""After so many steps on a page that does not answer, the rest of a trace is not tried."""
NAVIGATION_SECONDS = 5.0
"""How long a step waits for a document that is on its way."""


async def perform(stage: Stage, step: Step) -> StepRecord:
    """Take one step on the stage's page; counts ``stage.step`` up. Raises Crashed, and nothing for what a page does.

    ``missing``: its element is not there, or cannot be seen, within 1.5 s. ``failed``: it is there, and the step had
    no effect on it all the same (a forced click on a disabled element is ``done``: users do that, too).
    """
    # This step was recorded on the document that the step before asked for.
    await stage.traffic.arrival(NAVIGATION_SECONDS)
    stage.step += 1
    stage.detectors.next_step()
    started = stage.clock_ms()
    state, detail = await _taken(stage, step)
    stage.check()
    shot = await _passed(stage, step, state)
    stage.check()
    return StepRecord(stage.step, state, round(started, 1), round(stage.clock_ms(), 1), detail[:2000], shot)


async def _taken(stage: Stage, step: Step) -> tuple[StepState, str]:
    try:
        return "done", await take(stage, step)
    except Missing as error:
        return "missing", str(error)
    except (Silent, Unanswered) as error:
        stage.unanswered = stage.step if stage.unanswered is None else stage.unanswered
        return "failed", str(error)
    except Failed as error:
        return "failed", str(error)
    except Error as error:
        return "failed", first_line(error)


async def _passed(stage: Stage, step: Step, state: StepState) -> str:
    """The pause after a step, and what the page looks like then; the name of a picture, if one was taken."""
    pause = stage.pace.pause(stage, pause_after(step))
    if stage.job.pace == "recorded":
        # Looking takes no time from the session: the pause goes on meanwhile.
        return (await asyncio.gather(_looked_at(stage, state), pause))[0]
    await pause
    await stage.pace.settle(stage)
    return await _looked_at(stage, state)


async def _looked_at(stage: Stage, state: StepState) -> str:
    await stage.looks.look()
    fresh = stage.signals.fresh()
    shot = await stage.shots.take() if fresh or state in ("missing", "failed") else ""
    if shot:
        stage.signals.picture(fresh, shot)
    return shot


async def play(stage: Stage, taken: Callable[[StepRecord], None]) -> tuple[StepRecord, ...]:
    """Take the steps of the job's trace until one cannot be taken because its element is missing or the page no longer
    answers; the records of those that were. Each is handed to ``taken`` when it has ended, and so are the rest, which
    are ``skipped``. Raises Crashed.

    LOKI writes a burst of clicks down before it clicks, and one burst may take the element of the next away. So a
    missing element of a burst may have been missing in the recording, and what comes after it is tried all the same.
    """
    records: list[StepRecord] = []
    silent = lost = 0
    try:
        for step in stage.job.trace:
            record = await perform(stage, step)
            records.append(record)
            taken(record)
            silent = silent + 1 if stage.looks.frozen else 0
            lost = lost + 1 if record.state == "missing" else 0
            if (lost and not is_burst(step)) or lost == MAX_LOST or silent == MAX_SILENT:
                break
    except Crashed as error:
        now = round(stage.clock_ms(), 1)
        taken(StepRecord(stage.step, "failed", now, now, str(error)))
        raise
    finally:
        now = round(stage.clock_ms(), 1)
        for index in range(stage.step + 1, len(stage.job.trace)):
            taken(StepRecord(index, "skipped", now, now))
    return tuple(records)


async def linger(stage: Stage) -> None:
    """At the end: what is under way may still fail, for at most a second; then the last look. Raises Crashed."""
    loaded = (attempt(LATE_SECONDS, page.wait_for_load_state("load")) for page in stage.context.pages)
    await asyncio.gather(stage.traffic.answers(LATE_SECONDS), *loaded)
    await stage.looks.finish()
    stage.check()


async def silence(stage: Stage) -> str:
    """Where a page did not answer, if it did not: what such a session has not shown can still be there."""
    if stage.unanswered is not None:
        return f"step {stage.unanswered}: the page does not answer"
    if stage.looks.frozen and await attempt(LAST_SECONDS, stage.page.evaluate("1")) is None:
        return "the end: the page does not answer"
    return ""
