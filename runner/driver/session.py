"""One session from the start of the browser to its outcome."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import Browser, async_playwright

from runner.browser.job import Job
from runner.browser.outcome import LAUNCHED_LINE, READY_LINE, BrowserFacts, Outcome, State, StepRecord
from runner.browser.trace import Step
from runner.driver.confined import Confinement, seen_sandbox
from runner.driver.launch import Device, NotLaunched, device_of, executable, facts_of, launch
from runner.driver.parts import Faults, Pace
from runner.driver.play import linger, play, silence
from runner.driver.stage import Crashed, Stage, Unreachable
from runner.driver.waiting import NotReady, Place, wait_ready

if TYPE_CHECKING:
    from runner.driver.chaos import Improvisation

_MAX_PROGRESS = 1000


async def run_session(job: Job, out: Path, conclude: Callable[[Outcome], None] = lambda _: None) -> Outcome:
    """Carry out a job, and say what became of it: to ``conclude`` while the browser is still open, and at the end.
    Raises only where the driver itself is broken.
    """
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        Place.of(job.url)
        executable(job.browser)
    except ValueError as error:
        return Outcome("refused", str(error), started=started)
    except NotLaunched as error:
        return Outcome("not_launched", str(error), started=started)
    waiting = asyncio.ensure_future(wait_ready(job))
    try:
        async with _browser(job) as (browser, device):
            _say(LAUNCHED_LINE)
            version = asyncio.ensure_future(asyncio.to_thread(_playwright_version))
            sandbox = asyncio.ensure_future(seen_sandbox(job.browser))
            try:
                outcome = await carry_out(job, out, browser, device, waiting)
            finally:
                sandbox.cancel()
            facts = facts_of(browser, job, device, await version)
            facts = replace(facts, sandbox=sandbox.result() if _has_result(sandbox) else "unknown",
                            user_agent=outcome.browser.user_agent or facts.user_agent)
            outcome = replace(outcome, started=started, browser=facts)
            conclude(outcome)
            return outcome
    except NotLaunched as error:
        return Outcome("not_launched", str(error), started=started)
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, NotReady):
            await waiting


def _playwright_version() -> str:
    import importlib.metadata  # start-up time: it takes longer to load than to answer

    return importlib.metadata.version("playwright")


def _has_result(task: asyncio.Future[Confinement]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


@contextlib.asynccontextmanager
async def _browser(job: Job) -> AsyncIterator[tuple[Browser, Device]]:
    async with async_playwright() as playwright:
        device = device_of(playwright, job)
        browser = await launch(playwright, job)
        yield browser, device


class _Acting:
    """What has happened on a stage so far, also when the browser crashes in the middle."""

    def __init__(self, stage: Stage) -> None:
        self.records: list[StepRecord] = []
        self._stage = stage
        self._improvised: Improvisation | None = None

    async def act(self) -> tuple[State, str]:
        """Play the job's trace, or improvise. Raises Crashed."""
        chaos = self._stage.job.chaos
        if self._stage.job.mode == "chaos" and chaos is not None:
            # Only sessions with a persona pay for loading one.
            from runner.driver.chaos import Improvisation

            self._improvised = Improvisation(self._stage, chaos, self._note)
            await self._improvised.run()
            return "done", ""
        records = await play(self._stage, self._note)
        lost = [record for record in records if record.state == "missing"]
        if lost or len(records) < len(self._stage.job.trace):
            first = (lost or records[-1:])[0]
            return "diverged", f"step {first.index}: {first.detail}"
        return "done", ""

    def trace(self) -> tuple[Step, ...]:
        """The steps up to the last that was taken."""
        if self._improvised is not None:
            return tuple(self._improvised.trace)
        taken = (record.index for record in self.records if record.state in ("done", "failed"))
        return self._stage.job.trace[:max(taken, default=-1) + 1]

    def actions(self) -> tuple[str, ...]:
        """What a persona says it did."""
        return tuple(self._improvised.actions) if self._improvised is not None else ()

    def _note(self, record: StepRecord) -> None:
        self.records.append(record)
        if record.state != "skipped" and record.index < _MAX_PROGRESS:
            total = b" of %d" % len(self._stage.job.trace) if self._improvised is None else b""
            _say(b"step %d%b\n" % (record.index + 1, total))


async def carry_out(job: Job, out: Path, browser: Browser, device: Device,
                    waiting: Awaitable[None]) -> Outcome:
    """One session in a browser that runs, on an application that is ``waiting``'s to wait for. The context is left
    open, unless its recordings need its end.
    """
    if job.mode == "race":
        # Only a race pays for loading it.
        from runner.driver import race

        return await race.run(job, out, browser, device, waiting, lambda: _say(READY_LINE))
    stage = Stage(browser, job, out, device, pace=_pace_of(job))
    try:
        stage.faults = _faults_for(stage)
    except ValueError as error:
        return Outcome("refused", str(error))
    acting = _Acting(stage)
    try:
        await stage.open()
        await waiting
        _say(READY_LINE)
        await stage.goto()
        state, detail = await acting.act()
        await linger(stage)
        if state == "done" and job.mode == "play" and (where := await silence(stage)):
            state, detail = "diverged", where
    except NotReady as error:
        state, detail = "not_ready", str(error)
    except Unreachable as error:
        state, detail = "unreachable", str(error)
    except Crashed as error:
        state, detail = "crashed", str(error)
    return await _concluded(stage, acting, state, detail)


async def _concluded(stage: Stage, acting: _Acting, state: State, detail: str) -> Outcome:
    duration = stage.clock_ms()
    files = await stage.close()
    return Outcome(
        state, detail[:2000], browser=BrowserFacts(user_agent=stage.user_agent), duration_ms=round(duration, 1),
        trace=acting.trace(), steps=tuple(acting.records),
        actions=(*acting.actions(), *(stage.faults.unreached() if stage.faults is not None else ())),
        signals=stage.signals.signals(), dropped=stage.signals.dropped(),
        api_faults=stage.faults.fired if stage.faults is not None else (), state_faults=tuple(stage.applied),
        uncontrolled=tuple(sorted({*stage.detectors.uncontrolled, *stage.pace.uncontrolled})), files=files)


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _pace_of(job: Job) -> Pace:
    # Only the pace that is used is loaded.
    from runner.driver.pace import RecordedPace, SteppedPace

    return SteppedPace(job.seed) if job.pace == "stepped" else RecordedPace()


def _faults_for(stage: Stage) -> Faults | None:
    # Only sessions with faults pay for loading it.
    from runner.driver.faults import ApiFaults

    if not ApiFaults.wanted(stage.job):
        return None
    return ApiFaults(stage.job, lambda: stage.step, delay=stage.pace.delay)
