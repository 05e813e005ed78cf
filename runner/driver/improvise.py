"""Carrying out the faults that a chaos session draws, and writing down what each request got."""

from __future__ import annotations

import base64
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from playwright.async_api import Request, Route

from runner.browser.faults import FAULT_HEADER, ApiFault, ApiFaultType
from runner.browser.job import Chaos
from runner.driver import answers, odds
from runner.driver.answers import MAX_BODY
from runner.driver.matching import plain_url
from runner.driver.odds import Answer, Asked

MAX_FAULTS = 500
MAX_KEPT = 16 << 20
"""Bytes of bodies that one session keeps. Beyond either limit requests pass untouched."""
MAX_COUNTED = 20_000
"""Different requests that are counted; any beyond are never faulted."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """A request that a fault was drawn for."""

    route: Route
    request: Request
    asked: Asked
    occurrence: int
    rng: random.Random
    fault_type: ApiFaultType
    step: int

    def fault(self, made: Answer | None = None, *, original_status: int | None = None, delay_ms: int = 0,
              details: str = "") -> ApiFault:
        """What is written down of it."""
        fault = ApiFault(self.fault_type, self.asked.method, self.asked.url, self.occurrence, delay_ms=delay_ms,
                         step=self.step, original_status=original_status, details=details)
        if made is None:
            return fault
        return replace(fault, status=made.status, content_type=made.content_type,
                       body=base64.b64encode(made.body).decode())


class Improviser:
    """Handles every request of a chaos session. ``note`` is told of each fault, ``own`` of each request whose status
    is the fault's and not the application's.
    """

    def __init__(self, seed: int, chaos: Chaos, current_step: Callable[[], int], *, note: Callable[[ApiFault], None],
                 own: Callable[[Request], None], delay: Callable[[float], Awaitable[None]]) -> None:
        self._seed = seed
        self._chaos = chaos
        self._current_step = current_step
        self._note = note
        self._own = own
        self._delay = delay
        self._counted: Counter[tuple[str, str]] = Counter()
        self._faults = 0
        self._kept = 0

    async def handle(self, route: Route, request: Request) -> None:
        """Count the request; let it pass, or do what was drawn for it."""
        hit = self._drawn(route, request)
        if hit is None:
            await route.fallback()
            return
        self._faults += 1
        match hit.fault_type:
            case "delay":
                await self._hold(hit)
            case "cookie_eviction":
                await self._evict(hit)
            case "corrupt_json" | "schema_strip":
                await self._mutate(hit)
            case "token_invalidation" | "token_corruption":
                await self._spoil(hit)
            case _:
                await self._answer(hit, odds.made_up(hit.fault_type, hit.rng))

    def _drawn(self, route: Route, request: Request) -> _Hit | None:
        asked = Asked(request.method, plain_url(request.url), request.resource_type, request.headers)
        key = (asked.method, asked.url)
        if key not in self._counted and len(self._counted) >= MAX_COUNTED:
            return None
        self._counted[key] += 1
        if not odds.eligible(asked) or self._faults >= MAX_FAULTS:
            return None
        rng = odds.generator(self._seed, asked, self._counted[key])
        fault_type = odds.draw(rng, self._chaos, asked)
        if fault_type is None:
            return None
        return _Hit(route, request, asked, self._counted[key], rng, fault_type, self._current_step())

    async def _hold(self, hit: _Hit) -> None:
        ms = hit.rng.randint(*odds.DELAY_RANGE_MS)
        self._note(hit.fault(delay_ms=ms))
        await self._delay(ms)
        await hit.route.fallback()

    async def _evict(self, hit: _Hit) -> None:
        context = hit.request.frame.page.context
        count = len(await context.cookies())
        await context.clear_cookies()
        self._note(hit.fault(details=f"cleared {count} cookies"))
        await hit.route.fallback()

    async def _mutate(self, hit: _Hit) -> None:
        real = await answers.ask(hit.route)
        if real is None:
            await hit.route.fallback()
            return
        changed = answers.mutated(real, hit.fault_type, hit.rng)
        if changed is None or not self._room(changed[0]):
            await answers.pass_on(hit.route, real)
            return
        made, details = changed
        self._note(hit.fault(made, original_status=real.status, details=details))
        await answers.answer(hit.route, made, (FAULT_HEADER, hit.fault_type), real)

    async def _spoil(self, hit: _Hit) -> None:
        """The application answers a request with worthless credentials; one that cannot, or says too much, is
        answered for.
        """
        real = await answers.ask(hit.route, odds.spoiled(hit.fault_type, hit.asked.headers))
        if real is None or len(real.body) > MAX_BODY:
            await self._answer(hit, odds.refusal(401))
            return
        await self._answer(hit, Answer(real.status, real.body, real.content_type), real.status)

    async def _answer(self, hit: _Hit, made: Answer, original_status: int | None = None) -> None:
        if not self._room(made):
            await hit.route.fallback()
            return
        self._own(hit.request)
        self._note(hit.fault(made, original_status=original_status))
        await answers.answer(hit.route, made, (FAULT_HEADER, hit.fault_type))

    def _room(self, made: Answer) -> bool:
        """Whether this body can still be kept; if so, it counts."""
        if self._kept + len(made.body) > MAX_KEPT:
            return False
        self._kept += len(made.body)
        return True
