"""Lets several pages click at the same moment, as was recorded, and says whether more than one of them succeeds.

It needs Python 3.11, Playwright for Python and the application, started afresh:

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
from dataclasses import replace
from pathlib import Path

from playwright.async_api import Playwright

from runner.browser.job import Race
from runner.browser.outcome import Outcome
from runner.driver import race
from runner.driver.launch import device_of
from runner.incidents.identity import Identity, fits, race_identity
from runner.incidents.noise import session_of
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
from runner.reports.script.parts.recorded import compare, recorded_identities


async def session(playwright: Playwright, options: Options) -> Report:
    """All lanes, released together."""
    recorded = recorded_identities(options)
    job = replace(job_of(options), mode="race", race=Race(**INCIDENT["race"]))
    browser = await launch(playwright, options)
    waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting.set_result(None)
    outcome = await race.run(job, Path(), browser, device_of(playwright, job), waiting, lambda: None)
    await browser.close()
    if outcome.state != "done":
        raise CouldNotRun(f"{outcome.state}: {outcome.detail}")
    report = judge(recorded, outcome)
    if not report.reproduced and not await still_there(options.url):
        raise CouldNotRun("the application went away in the middle")
    return report


def judge(recorded: list[tuple[str, Identity]], outcome: Outcome) -> Report:
    """Races by the successes of their request, other failures by what the lanes saw."""
    tallies = tally(outcome.lanes)
    races = [(name, wanted) for name, wanted in recorded if wanted.kind == "race"]
    if races and not any(succeeded(wanted, tallies) for _, wanted in races):
        raise CouldNotRun("no lane succeeded, so what was recorded cannot happen: is the application as it was then?")
    raced = [Finding(name, count if (count := succeeded(wanted, tallies)) > 1 else 0) for name, wanted in races]
    rest = compare([one for one in recorded if one not in races], outcome.signals, session_of(outcome))
    found = [f"{one.method} {one.url}: {one.succeeded} of {len(outcome.lanes)} lanes succeeded, {one.refused} refused, "
             f"{one.failed} failed, {one.repeats} repeats" for one in tallies]
    spread = [] if outcome.spread_ms is None else [f"the pages saw their clicks within {outcome.spread_ms:.1f} ms"]
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
