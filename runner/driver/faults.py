"""Faults in an application's answers: drawn and written down in a chaos session, put in again in a replay.

A fault belongs to one request, told by method, URL (without fragment) and occurrence. Every request counts, faulted
or not, in the order in which the pages asked, in frames and popups too. What does not count, in either mode:

- the hops of a redirect: a fault belongs to the request that the page made;
- CORS preflights: while requests are routed, the browser answers them by itself;
- websockets, which pass untouched; streams of server-sent events count, and pass untouched;
- requests of service workers, which cannot be routed: the context of a session with faults is to block them
  (:data:`CONTEXT_OPTIONS`).

A replay routes the recorded URLs and no others, and nothing at all without faults; a chaos session routes whatever
could be faulted. The browser's HTTP cache is off in a context with routes.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from playwright.async_api import BrowserContext, Error, Request, Route

from runner.browser.faults import REPRO_HEADER, REPRO_VALUE, ApiFault, ApiFaultType
from runner.browser.job import Job
from runner.driver import answers, odds
from runner.driver.improvise import Improviser
from runner.driver.matching import COOKIES_METHOD, COOKIES_URL, Targets
from runner.driver.odds import Answer

CONTEXT_OPTIONS: dict[str, Any] = {"service_workers": "block"}
"""For the context of a session with faults."""
_ASKING = frozenset({"corrupt_json", "schema_strip"})
"""The application is asked as well, so that it does what it did in the recording."""
_SPOILING = frozenset({"token_invalidation", "token_corruption"})
_OWN_ANSWER = _SPOILING | {"delay", "cookie_eviction"}
_STATUS: dict[ApiFaultType, int] = {"corrupt_json": 200, "schema_strip": 200, "empty_response": 200,
                                    "token_invalidation": 401, "token_corruption": 401, "401_unauthorized": 401,
                                    "403_forbidden": 403}


async def by_the_wall(ms: float) -> None:
    """A delay in real time."""
    await asyncio.sleep(ms / 1000)


class ApiFaults:
    """The faults of one session. ``delay`` lets the milliseconds of a delay fault pass. Raises ValueError for a job
    whose faults hold what cannot be answered.
    """

    def __init__(self, job: Job, current_step: Callable[[], int], *,
                 delay: Callable[[float], Awaitable[None]] = by_the_wall) -> None:
        self._job = job
        self._current_step = current_step
        self._delay = delay
        self._targets = Targets(fault for fault in job.api_faults if fault.method != COOKIES_METHOD)
        self._answers = {id(fault): _recorded(fault) for fault in job.api_faults}
        self._evictions = [fault for fault in job.api_faults if fault.method == COOKIES_METHOD]
        self._fired: list[ApiFault] = []
        self._owned: set[Request] = set()

    @staticmethod
    def wanted(job: Job) -> bool:
        """Whether this session has faults at all; if not, nothing need be attached."""
        return bool(job.api_faults) or _improvised(job)

    @property
    def fired(self) -> tuple[ApiFault, ...]:
        """What was done: by step, and within a step by method, URL and occurrence, whichever came first."""
        return tuple(sorted(self._fired, key=lambda fault: (fault.step, fault.method, fault.url, fault.occurrence)))

    @property
    def unfired(self) -> tuple[ApiFault, ...]:
        """Recorded faults whose request was not seen."""
        return (*self._targets.waiting, *self._evictions)

    def unreached(self) -> tuple[str, ...]:
        """A line for each recorded fault whose request was not seen."""
        return tuple(f"fault not reached: {fault.fault_type} for {_which(fault)}" for fault in self.unfired)

    def owns(self, request: Request) -> bool:
        """Whether the status that this very request was answered with is ours and not the application's."""
        return request in self._owned

    async def attach(self, context: BrowserContext) -> None:
        """Route the requests of a context, before its first navigation."""
        if _improvised(self._job) and self._job.chaos is not None:
            improviser = Improviser(self._job.seed, self._job.chaos, self._current_step,
                                    note=self._fired.append, own=self._owned.add, delay=self._delay)
            await context.route(odds.ROUTED, _forgiving(improviser.handle))
        elif (pattern := self._targets.pattern()) is not None:
            await context.route(pattern, _forgiving(self._replay))

    async def detach(self, context: BrowserContext) -> None:
        """Let go of the requests before the context is closed. Answers still under way are not waited for."""
        await context.unroute_all(behavior="ignoreErrors")

    def evicted(self, count: int) -> None:
        """A step of the trace has cleared all ``count`` cookies, which is a fault too: of this recording, or one that
        a replay was to put in.
        """
        fault = (self._evictions.pop(0) if self._evictions else
                 ApiFault("cookie_eviction", COOKIES_METHOD, COOKIES_URL))
        self._fired.append(replace(fault, step=self._current_step(), details=f"cleared {count} cookies"))

    async def _replay(self, route: Route, request: Request) -> None:
        step = self._current_step()
        taken = self._targets.take(request.method, request.url, step)
        if taken is None:
            await route.fallback()
            return
        fault, occurrence = taken
        self._fired.append(replace(fault, occurrence=occurrence, step=step))
        if fault.fault_type == "cookie_eviction":
            await request.frame.page.context.clear_cookies()
        if fault.delay_ms > 0:
            await self._delay(fault.delay_ms)
        recorded = self._answers[id(fault)]
        if recorded is None:
            await self._let_application_answer(route, request, fault)
            return
        real = await answers.ask(route) if fault.fault_type in _ASKING else None
        if real is None or real.status != recorded.status:
            self._owned.add(request)
        await answers.answer(route, recorded, (REPRO_HEADER, REPRO_VALUE), real)

    async def _let_application_answer(self, route: Route, request: Request, fault: ApiFault) -> None:
        """As it likes, or, where a recording has lost what it said to worthless credentials, to such ones again."""
        if fault.fault_type not in _SPOILING:
            await route.fallback()
            return
        self._owned.add(request)
        real = await answers.ask(route, odds.spoiled(fault.fault_type, request.headers))
        made = Answer(real.status, real.body, real.content_type) if real is not None else odds.refusal(401)
        await answers.answer(route, made, (REPRO_HEADER, REPRO_VALUE), real)


def _which(fault: ApiFault) -> str:
    number = f"request {fault.occurrence} of " if fault.occurrence else ""
    return f"{number}{fault.method[:20]} {fault.url[:500]}"


def _improvised(job: Job) -> bool:
    return job.mode == "chaos" and job.chaos is not None and (job.chaos.api_chaos or job.chaos.auth_chaos)


def _recorded(fault: ApiFault) -> Answer | None:
    """The answer in a replay; ``None``: the application's own. A recording that does not say what was answered (a
    mutated body of LOKI's) gets an empty object, as in LOKI's own replay.
    """
    if fault.fault_type in _OWN_ANSWER and fault.status is None and fault.body is None:
        return None
    status = fault.status if fault.status is not None else _STATUS.get(fault.fault_type, 500)
    if not 200 <= status <= 599:
        raise ValueError(f"a fault of {fault.method} {fault.url[:200]} answers with status {status}")
    body = base64.b64decode(fault.body, validate=True) if fault.body is not None else b"{}"
    return Answer(status, body, fault.content_type)


def _forgiving(handle: Callable[[Route, Request], Awaitable[None]]) -> Callable[[Route, Request], Awaitable[None]]:
    """A handler that takes it easy when its page has gone: nobody waits for the answer then."""
    async def handler(route: Route, request: Request) -> None:
        try:
            await handle(route, request)
        except Error:
            return
    return handler
