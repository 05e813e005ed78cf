"""A race: several pages click the same thing at the same moment, and what the application makes of it.

Every lane has a browser context of its own, or a whole browser. All aim first; no lane clicks unless each has found
its element. Then every mouse button is pressed, and at once every one released, which is the click.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from playwright.async_api import Browser, Error

from runner.browser.job import Job, Outputs, Race
from runner.browser.outcome import Lane, Outcome, Signal, State
from runner.driver.clicks import spread
from runner.driver.guard import Silent, attempt, first_line
from runner.driver.lane import Runner
from runner.driver.launch import Device, NotLaunched, start
from runner.driver.pace import RecordedPace
from runner.driver.signals import MAX_SIGNALS
from runner.driver.stage import Crashed, Stage, Unreachable
from runner.driver.waiting import NotReady

MAX_LANES = 32
QUIET_SECONDS, IDLE_SECONDS, SETTLE_SECONDS = 0.5, 2.0, 15.0
"""A lane is done when nothing was asked for during the first, or, if its click set off no request at all, the second;
the third is the bound for all of them.
"""


class _Diverged(Exception):
    """A lane has not found its element."""


async def run(job: Job, out: Path, browser: Browser, device: Device, waiting: Awaitable[None],
              ready: Callable[[], None]) -> Outcome:
    """One race in a browser that runs, on an application that is ``waiting``'s to wait for; ``ready`` is called once it
    answers. Raises NotLaunched where a lane's own browser does not start.
    """
    race = job.race
    if race is None or not 1 <= race.lanes <= MAX_LANES:
        return Outcome("refused", f"a race has 1 to {MAX_LANES} lanes")
    browsers = await _browsers(job, browser, race)
    lanes = [Runner(number, Stage(own, replace(job, outputs=Outputs()), out, device, pace=RecordedPace()))
             for number, own in enumerate(browsers)]
    try:
        state, detail = await _raced(lanes, waiting, ready)
        return await _concluded(lanes, state, detail)
    finally:
        for own in browsers[1:] if race.own_browser else ():
            await attempt(10, own.close())


async def _browsers(job: Job, browser: Browser, race: Race) -> list[Browser]:
    if not race.own_browser:
        return [browser] * race.lanes
    others = await asyncio.gather(*(start(browser.browser_type, job) for _ in range(race.lanes - 1)),
                                  return_exceptions=True)
    started = [other for other in others if isinstance(other, Browser)]
    for other in others:
        if isinstance(other, BaseException):
            for own in started:
                await attempt(10, own.close())
            raise NotLaunched("a lane's own browser did not start: " + first_line(other))
    return [browser, *started]


async def _raced(lanes: list[Runner], waiting: Awaitable[None], ready: Callable[[], None]) -> tuple[State, str]:
    try:
        await asyncio.gather(*(lane.open() for lane in lanes))
        await waiting
        ready()
        await _all_aim(lanes)
        await asyncio.gather(*(lane.press() for lane in lanes))
        await asyncio.gather(*(lane.release() for lane in lanes))
        await _settle(lanes)
    except NotReady as error:
        return "not_ready", str(error)
    except Unreachable as error:
        return "unreachable", str(error)
    except _Diverged as error:
        return "diverged", str(error)
    except (Crashed, Error, Silent) as error:
        return "crashed", first_line(error)
    crashed = [f"lane {lane.lane}: {lane.at.detectors.crashed}" for lane in lanes if lane.at.detectors.crashed]
    return ("crashed", crashed[0]) if crashed else ("done", "")


async def _all_aim(lanes: list[Runner]) -> None:
    """The barrier: nobody is past it before everybody has arrived."""
    await asyncio.gather(*(_arrive(lane) for lane in lanes))
    lost = [lane for lane in lanes if lane.trouble]
    if lost:
        raise Unreachable(f"lane {lost[0].lane}: {lost[0].trouble}")
    await asyncio.gather(*(lane.aim() for lane in lanes))
    missing = [lane for lane in lanes if lane.missing]
    if missing:
        raise _Diverged(f"lane {missing[0].lane}: {missing[0].missing}; nobody has clicked")


async def _arrive(lane: Runner) -> None:
    try:
        await lane.at.goto()
    except Unreachable as error:
        lane.trouble = str(error)


async def _settle(lanes: list[Runner]) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        if all(lane.quiet(IDLE_SECONDS, QUIET_SECONDS) for lane in lanes):
            return
        await asyncio.sleep(0.02)


async def _concluded(lanes: list[Runner], state: State, detail: str) -> Outcome:
    clocks = [lane.at.clock_ms() for lane in lanes]
    duration = max(clocks)
    results = [await lane.result() for lane in lanes]
    for lane in lanes:
        await lane.at.close()
    signals, dropped = _merged(lanes, [duration - clock for clock in clocks])
    return Outcome(state, detail[:2000], duration_ms=round(duration, 1), actions=tuple(_said(lane) for lane in results),
                   signals=signals, dropped=dropped, lanes=tuple(results),
                   spread_ms=spread([lane.clicked_ms for lane in results]),
                   uncontrolled=tuple(sorted({note for lane in lanes for note in lane.at.detectors.uncontrolled})))


def _said(lane: Lane) -> str:
    statuses = ", ".join(f"{answer.method} {answer.status}" for answer in lane.responses) or "no answer that counts"
    return f"lane {lane.lane}: click on {lane.selector or 'the first button'}: {statuses}"


def _merged(lanes: list[Runner], late_ms: list[float]) -> tuple[tuple[Signal, ...], tuple[tuple[str, int], ...]]:
    """All lanes' signals by time, on the clock of the lane that began first."""
    dropped: Counter[str] = Counter()
    found: list[Signal] = []
    for lane, late in zip(lanes, late_ms, strict=True):
        found += [replace(signal, lane=lane.lane, at_ms=round(signal.at_ms + late, 1))
                  for signal in lane.at.signals.signals()]
        dropped.update(dict(lane.at.signals.dropped()))
    found.sort(key=lambda signal: (signal.at_ms, signal.lane))
    dropped.update(Counter(signal.kind for signal in found[MAX_SIGNALS:]))
    return tuple(found[:MAX_SIGNALS]), tuple(sorted(dropped.items()))
