"""One session from the start of the browser to its outcome."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Browser, async_playwright

from runner.browser.job import Job
from runner.browser.outcome import READY_LINE, Outcome, State, StepRecord
from runner.driver.launch import Device, NotLaunched, device_of, executable, facts_of, launch
from runner.driver.parts import Faults, Pace
from runner.driver.play import linger, play
from runner.driver.stage import Crashed, Stage, Unreachable
from runner.driver.waiting import NotReady, Place, wait_ready

_MAX_PROGRESS = 1000


async def run_session(job: Job, out: Path) -> Outcome:
    """Carry out a job, and say what became of it. Raises only where the driver itself is broken."""
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
            facts = facts_of(browser, job, device, importlib.metadata.version("playwright"))
            outcome = await _with_browser(job, out, browser, device, waiting)
            return replace(outcome, started=started, browser=facts)
    except NotLaunched as error:
        return Outcome("not_launched", str(error), started=started)
    finally:
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError, NotReady):
            await waiting


@contextlib.asynccontextmanager
async def _browser(job: Job) -> AsyncIterator[tuple[Browser, Device]]:
    async with async_playwright() as playwright:
        device = device_of(playwright, job)
        browser = await launch(playwright, job)
        yield browser, device


async def _with_browser(job: Job, out: Path, browser: Browser, device: Device,
                        waiting: asyncio.Future[None]) -> Outcome:
    stage = Stage(browser, job, out, device, pace=_pace_of(job))
    stage.faults = _faults_for(stage)
    taken: list[StepRecord] = []
    try:
        await stage.open()
        await waiting
        sys.stdout.buffer.write(READY_LINE)
        sys.stdout.buffer.flush()
        await stage.goto()
        state, detail = await _act(stage, taken)
        await linger(stage)
    except NotReady as error:
        state, detail = "not_ready", str(error)
    except Unreachable as error:
        state, detail = "unreachable", str(error)
    except Crashed as error:
        state, detail = "crashed", str(error)
    duration = stage.clock_ms()
    files = await stage.close()
    return _outcome(stage, state, detail, taken, duration, files)


async def _act(stage: Stage, taken: list[StepRecord]) -> tuple[State, str]:
    total = len(stage.job.trace)

    def note(record: StepRecord) -> None:
        taken.append(record)
        if record.index < _MAX_PROGRESS:
            sys.stdout.buffer.write(b"step %d of %d\n" % (record.index + 1, total))
            sys.stdout.buffer.flush()

    records = await play(stage, note)
    missing = [record for record in records if record.state == "missing"]
    if missing:
        return "diverged", f"step {missing[0].index}: {missing[0].detail}"
    return "done", ""


def _outcome(stage: Stage, state: State, detail: str, taken: list[StepRecord], duration: float,
             files: tuple[str, ...]) -> Outcome:
    job = stage.job
    began = [record for record in taken if record.state in ("done", "failed")]
    return Outcome(
        state, detail[:2000], duration_ms=round(duration, 1), trace=job.trace[:len(began)], steps=tuple(taken),
        signals=stage.signals.signals(), api_faults=stage.faults.fired if stage.faults is not None else (),
        state_faults=tuple(stage.applied), uncontrolled=tuple(sorted({*stage.detectors.uncontrolled,
                                                                      *stage.pace.uncontrolled})),
        dropped=stage.signals.dropped(), files=files)


def _pace_of(job: Job) -> Pace:
    # Only the pace that is used is loaded.
    from runner.driver.pace import RecordedPace, SteppedPace

    return SteppedPace(job.seed) if job.pace == "stepped" else RecordedPace()


def _faults_for(stage: Stage) -> Faults | None:
    # Only sessions with faults pay for loading it.
    from runner.driver.faults import ApiFaults

    return ApiFaults(stage.job, lambda: stage.step) if ApiFaults.wanted(stage.job) else None
