"""How a session passes time: by the wall's clock as recorded, or by the page's own, stepped by the driver.

In the stepped pace the seed decides everything. The page's clock stands still but for what a step advances: its own
delays, and ``TICK_MS`` when it has ended. Math.random, crypto.getRandomValues and crypto.randomUUID are drawn from the
seed. Requests start one by one, answers of servers and workers wait for the end of a step, animations jump to theirs.
What cannot be held so is named in ``uncontrolled``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error, Frame

from runner.driver.held import held_name, hold_script, seeded_script
from runner.driver.turnstile import Turnstile

if TYPE_CHECKING:
    from runner.driver.stage import Stage

EPOCH_MS = 1_767_268_800_000
"""What the page's clock shows at first in the stepped pace: 2026-01-01T12:00:00Z."""
TICK_MS = 250
"""By how much the end of a step advances the page's clock."""
MAX_ROUNDS, MAX_RESTLESS, MAX_TRANSIT = 25, 12, 3
"""Looks at a page at one boundary; those that wait for messages; and those for requests that only the page knows of."""
MAX_PAGES, MAX_FRAMES = 5, 12
BUSY_SECONDS = 10.0
"""A page that does not answer within this time is left alone, and said to be uncontrolled."""


class RecordedPace:
    """Time passes by the wall's clock."""

    page_ms: float | None = None
    uncontrolled: tuple[str, ...] = ()

    async def attach(self, _: Stage) -> None:
        """Nothing to prepare."""

    async def settle(self, _: Stage) -> None:
        """Nothing to wait for: the recorded delays are the pace."""

    async def pause(self, _: Stage, ms: float) -> None:
        """``ms`` milliseconds of real time."""
        await asyncio.sleep(ms / 1000)

    async def slow_down(self, _: Stage, latency_ms: float) -> bool:  # noqa: ARG002 (the other pace's, that does)
        """Whether this pace has a slow network of its own. It has not: the browser's is to be used."""
        return False

    async def delay(self, ms: float) -> None:
        """An answer comes ``ms`` milliseconds later."""
        await asyncio.sleep(ms / 1000)


@dataclass(frozen=True, slots=True)
class _Pulse:
    """What moved in the frames so far, and what they wait for: answers to requests, and messages."""

    changes: tuple[Any, ...] = ()
    pending: int = 0
    held: int = 0
    restless: bool = False


class SteppedPace:
    """Time passes when a step ends, or waits. Every draw comes from ``seed``."""

    def __init__(self, seed: int) -> None:
        self._page_ms = 0.0
        self._seed = seed
        self._name = held_name(seed)
        self._notes: set[str] = set()
        self._last = _Pulse()
        self._gate = Turnstile(lambda: self._page_ms, self._notes.add)

    @property
    def page_ms(self) -> float:
        """What has passed on the page's clock since the start, in milliseconds."""
        return self._page_ms

    @property
    def uncontrolled(self) -> tuple[str, ...]:
        """Sources that were seen and could not be held to the steps, by name."""
        return tuple(sorted(self._notes))

    async def attach(self, stage: Stage) -> None:
        """Before the first navigation, and after every other route: scripts, clock and turnstile."""
        context = stage.context
        await context.add_init_script(hold_script(self._seed))
        # Never install() before it: the clock would run for the time between the two, and a new document repeats that.
        await context.clock.pause_at(EPOCH_MS / 1000)  # in seconds
        await context.add_init_script(seeded_script(self._seed))
        await self._gate.attach(context)

    async def settle(self, stage: Stage) -> None:
        """End a step: all that it set off, then ``TICK_MS`` of the page's clock, then all that this set off."""
        self._gate.open()
        await self._quiet(stage)
        await self._advance(stage, TICK_MS)
        self._gate.open()
        await self._quiet(stage)
        self._gate.shut()

    async def pause(self, stage: Stage, ms: float) -> None:
        """Advance the page's clock by ``ms``, timers and frames included. What is asked of servers waits meanwhile, but
        for a navigation, which comes to its end first.
        """
        await self._pulse(stage)
        if self._gate.navigated:
            await self._quiet(stage)
        await self._advance(stage, ms)

    async def _advance(self, stage: Stage, ms: float) -> None:
        self._gate.shut()
        self._page_ms += ms
        try:
            async with asyncio.timeout(BUSY_SECONDS):
                await stage.context.clock.run_for(int(ms))
        except TimeoutError:
            self._notes.add("busy page")
        except Error:  # the page navigated, closed or crashed meanwhile; the log of signals has it
            return

    async def slow_down(self, _: Stage, latency_ms: float) -> bool:
        """From here on a request starts ``latency_ms`` of the page's clock after it was made."""
        self._gate.latency_ms = latency_ms
        return True

    async def delay(self, ms: float) -> None:
        """An answer comes ``ms`` of the page's clock later; called by the handler of a request that is under way."""
        await self._gate.delay(ms)

    async def _quiet(self, stage: Stage) -> None:
        """Until a look finds what the one before found, and no request and no message on its way; at most 25 looks."""
        self._gate.navigated, restless, transit = False, MAX_RESTLESS, MAX_TRANSIT
        for _ in range(MAX_ROUNDS):
            await self._gate.idle()
            passed = self._gate.passed
            before, self._last = self._last, await self._pulse(stage)
            if self._last.restless and restless:
                restless -= 1
                continue
            if self._last.held:
                await self._each(stage, "name => globalThis[name].release()", self._name)
                continue
            if self._last != before or passed != self._gate.passed:
                continue
            if not self._last.pending or self._gate.is_busy or not transit:
                return
            transit -= 1
        self._notes.add("page never quiet")

    async def _pulse(self, stage: Stage) -> _Pulse:
        script = "([name, passed]) => globalThis[name].pulse(passed)"
        found = await self._each(stage, script, [self._name, self._gate.passed])
        for pulse in found:
            self._notes.update(str(note)[:80] for note in pulse["notes"][:20])
        return _Pulse(tuple(pulse["changes"] for pulse in found),
                      sum(pulse["pending"] for pulse in found), sum(pulse["held"] for pulse in found),
                      any(pulse["restless"] for pulse in found))

    async def _each(self, stage: Stage, script: str, argument: object) -> list[Any]:
        """What ``script`` says in every frame of every page, where it can be asked."""
        pages = stage.context.pages
        frames = [frame for page in pages[:MAX_PAGES] for frame in page.frames[:MAX_FRAMES]]
        if len(pages) > MAX_PAGES or any(len(page.frames) > MAX_FRAMES for page in pages):
            self._notes.add("frames beyond the first")
        answers = await asyncio.gather(*(self._ask(frame, script, argument) for frame in frames))
        return [answer for answer in answers if answer is not None]

    async def _ask(self, frame: Frame, script: str, argument: object) -> Any:
        try:
            async with asyncio.timeout(BUSY_SECONDS):
                return await frame.evaluate(script, argument)
        except TimeoutError:
            self._notes.add("busy page")
        except Error:  # between two documents, or one that scripts cannot reach (an error page)
            return None
        return None
