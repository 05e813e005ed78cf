"""Lets several pages click at the same moment, as was recorded, and says whether more than one of them succeeds.

It needs Python 3.10, Playwright for Python and the application, started afresh:

    python repro_test.py [--url URL] [--browser NAME] [--executable PATH] [--headed]
    pytest repro_test.py

Exit code of python: 1 reproduced (two or more state-changing requests succeeded where one may, or another recorded
failure was seen), 0 not reproduced, 2 could not run (nothing answers at the URL, there is nothing to click on, no
request succeeds at all, the browser does not start, and the like: that says nothing about the race). A repeat with the
same idempotency key and the same answer is no second success. In pytest these are FAILED, PASSED and ERROR, and
REPRO_URL, REPRO_BROWSER, REPRO_EXECUTABLE and REPRO_HEADED take the options' place.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Playwright

from runner.browser.outcome import Lane, Signal
from runner.driver.launch import device_of
from runner.driver.pace import RecordedPace
from runner.driver.stage import Stage
from runner.incidents.identity import Identity, fits, race_identity
from runner.incidents.noise import Session
from runner.incidents.races import Tally, tally
from runner.reports.script.parts.base import (
    INCIDENT,
    CouldNotRun,
    Finding,
    Options,
    Report,
    job_of,
    launch,
    main,
    read_options,
    run,
    still_there,
)
from runner.reports.script.parts.lane import Racer
from runner.reports.script.parts.recorded import compare, recorded_identities


async def session(playwright: Playwright, options: Options) -> Report:
    """All lanes, released together."""
    recorded = recorded_identities(options)
    job = job_of(options)
    device = device_of(playwright, job)
    selectors: list[str | None] = INCIDENT["race"]["selectors"]
    browsers = [await launch(playwright, options) for _ in selectors[:None if INCIDENT["race"]["own_browser"] else 1]]
    racers = [Racer(number, selector, Stage(browsers[number % len(browsers)], job, Path(), device, pace=RecordedPace()))
              for number, selector in enumerate(selectors)]
    await asyncio.gather(*(racer.open() for racer in racers))
    await asyncio.gather(*(racer.click() for racer in racers))
    lanes = [await racer.lane() for racer in racers]
    signals = [signal for racer in racers for signal in racer.stage.signals.signals()]
    for browser in browsers:
        await browser.close()
    report = judge(recorded, lanes, signals)
    if not report.reproduced and not await still_there(options.url):
        raise CouldNotRun("the application went away in the middle")
    return report


def judge(recorded: list[tuple[str, Identity]], lanes: list[Lane], signals: list[Signal]) -> Report:
    """Races by the successes of their endpoint, other failures by what the lanes saw."""
    tallies = tally(lanes)
    races = [(name, wanted) for name, wanted in recorded if wanted.kind == "race"]
    if races and not any(succeeded(wanted, tallies) for _, wanted in races):
        raise CouldNotRun("no lane succeeded, so what was recorded cannot happen: is the application as it was then?")
    raced = [Finding(name, count if (count := succeeded(wanted, tallies)) > 1 else 0) for name, wanted in races]
    rest = compare([one for one in recorded if one not in races], signals, Session(signals=signals, raced=True))
    found = [f"{one.method} {one.url}: {one.succeeded} of {len(lanes)} lanes succeeded, {one.refused} refused, "
             f"{one.failed} failed, {one.repeats} repeats" for one in tallies]
    clicks = [lane.clicked_ms for lane in lanes if lane.clicked_ms is not None]
    spread = [f"the pages saw their clicks within {max(clicks) - min(clicks):.1f} ms"] if len(clicks) > 1 else []
    return Report((*raced, *rest.findings), rest.others, (*found, *spread, *rest.notes))


def succeeded(wanted: Identity, tallies: tuple[Tally, ...]) -> int:
    """In how many lanes a race's request succeeded; the busiest one, where the recording names none."""
    return max((one.succeeded for one in tallies if fits(wanted, race_identity(one.method, one.url))), default=0)


class TestRepro:
    """For pytest: an error in the set-up is "could not run", a failure of the test is "reproduced"."""

    def setup_method(self) -> None:
        """Run the race."""
        self.report = run(session, read_options([]))

    def test_the_recorded_failures_are_gone(self) -> None:
        """Fails with the names of those that are not."""
        assert not self.report.reproduced, f"reproduced: {', '.join(self.report.reproduced)}"


if __name__ == "__main__":
    sys.exit(main(session))
