"""Plays a recorded browser session again, step by step, and says whether its failures happen again.

It needs Python 3.11, Playwright for Python and the application, started and fresh:

    python repro_test.py [--url URL] [--browser NAME] [--executable PATH] [--headed]
    pytest repro_test.py

Exit code of python: 1 reproduced (a recorded failure was seen), 0 not reproduced (every step was taken, none was seen),
2 could not run (nothing answers at the URL, a step has no element to act on, the browser does not start, and the like:
that says nothing about the failures). In pytest these are FAILED, PASSED and ERROR, and REPRO_URL, REPRO_BROWSER,
REPRO_EXECUTABLE and REPRO_HEADED take the options' place.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.async_api import Browser, Playwright

from runner.browser.job import Job
from runner.browser.outcome import StepRecord
from runner.driver.faults import ApiFaults
from runner.driver.launch import Device, device_of
from runner.driver.pace import RecordedPace, SteppedPace
from runner.driver.play import linger, play
from runner.driver.stage import Stage
from runner.incidents.noise import Session
from runner.reports.script.parts.base import (
    CouldNotRun,
    Options,
    Report,
    job_of,
    launch,
    main,
    open_stage,
    read_options,
    run,
    still_there,
)
from runner.reports.script.parts.recorded import compare, recorded_identities

NEVER_WORKS = ("Malformed value", "is not an <input>", "cannot be filled", "Cannot type text", "Unknown key")
"""What a browser says of a step that cannot have had an effect when it was recorded either."""


async def session(playwright: Playwright, options: Options) -> Report:
    """Every step of the recording, in a fresh browser."""
    recorded = recorded_identities(options)
    job = job_of(options)
    browser = await launch(playwright, options)
    stage = stage_of(browser, job, device_of(playwright, job))
    await open_stage(stage)
    records = await play(stage, lambda _: None)
    for record in records:
        if record.state == "missing":
            raise CouldNotRun(f"{_named(job, record)} cannot be taken: {record.detail}")
    await linger(stage)
    seen = Session(job.trace, stage.faults.fired if stage.faults is not None else (), stage.applied,
                   stage.signals.signals())
    without = [record for record in records if record.state in ("failed", "skipped")]
    report = compare(recorded, stage.signals.signals(), seen,
                     [f"{_named(job, record)} had no effect: {record.detail}" for record in without])
    await browser.close()
    if not report.reproduced and not await still_there(options.url):
        raise CouldNotRun("the application went away in the middle")
    for record in without:
        if not report.reproduced and not any(words in record.detail for words in NEVER_WORKS):
            raise CouldNotRun(f"{_named(job, record)} had no effect: {record.detail or record.state}")
    return report


def _named(job: Job, record: StepRecord) -> str:
    return f"step {record.index} ({job.trace[record.index].kind})"


def stage_of(browser: Browser, job: Job, device: Device) -> Stage:
    """A stage with the recorded pace and faults."""
    stage = Stage(browser, job, Path(), device, pace=SteppedPace(job.seed) if job.pace == "stepped" else RecordedPace())
    stage.faults = ApiFaults(job, lambda: stage.step) if ApiFaults.wanted(job) else None
    return stage


class TestRepro:
    """For pytest: an error in the set-up is "could not run", a failure of the test is "reproduced"."""

    def setup_method(self) -> None:
        """Play the session."""
        self.report = run(session, read_options([]))

    def test_the_recorded_failures_are_gone(self) -> None:
        """Fails with the names of those that are not."""
        assert not self.report.reproduced, f"reproduced: {', '.join(self.report.reproduced)}"


if __name__ == "__main__":
    sys.exit(main(session))
