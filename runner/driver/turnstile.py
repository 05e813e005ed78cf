"""The turnstile of the stepped pace: a session's requests go through one by one, in the order in which they were made.

So their order at the server, and that of the answers, is the page's doing and never the network's. While it is shut,
requests wait: those that a burst of clicks or a run of timers made start when the burst is over. Bounds are counts.
A bound in real time is the last resort, and is noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.async_api import BrowserContext, Error, Request, Response, Route

MAX_CALLS = 25
"""Calls of scripts (fetch, XMLHttpRequest) let through at one boundary; a page that calls without end waits."""
STUCK_SECONDS = 10.0
SHUT_SECONDS = 5.0
UNREAD_SECONDS = 0.2
"""A page that looks at an answer's status only never reads its body, and the browser then tells of no end. A short body
that is read has ended by now."""
SHORT_BODY = 1 << 16
CALLS = frozenset({"fetch", "xhr"})
FREE = frozenset({"eventsource", "ping", "websocket", "media"})
"""Kinds of requests that end when they like; nobody waits for them."""
STREAMS = ("text/event-stream", "application/x-ndjson", "multipart/x-mixed-replace")


@dataclass(eq=False, slots=True)
class _Ticket:
    """A request that waits for its turn, not before the page's clock shows ``due_ms``."""

    request: Request
    due_ms: float
    turn: asyncio.Future[None]


@dataclass(eq=False)  # without slots: playwright keeps its wrappers of handlers on their object
class Turnstile:
    """``page_ms`` is the page's clock; ``note`` takes the name of a source that could not be held.

    ``latency_ms``: a slow network, in time of the page: a script's request starts that much later. Navigations never
    wait, and open the turnstile: a page cannot be spoken to while one is under way. ``navigated`` is set by them.
    """

    page_ms: Callable[[], float]
    note: Callable[[str], None]
    latency_ms: float = 0.0
    passed: int = 0
    is_open: bool = True
    navigated: bool = False
    _calls: int = 0
    _waiting: list[_Ticket] = field(default_factory=list)
    _under_way: dict[Request, asyncio.TimerHandle] = field(default_factory=dict)
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    async def attach(self, context: BrowserContext) -> None:
        """Take hold of every request of the context. To be called last: the handler that came last is asked first."""
        context.on("request", self._began)
        context.on("requestfinished", self._ended)
        context.on("requestfailed", self._ended)
        context.on("response", self._answered)
        context.on("close", lambda _: self._let_all_go())
        await context.route("**/*", self._handle)

    @property
    def is_busy(self) -> bool:
        """Whether any request is known that has not ended."""
        return bool(self._waiting or self._under_way)

    def open(self) -> None:
        """Let requests through, and count calls anew."""
        self.is_open, self.navigated, self._calls = True, False, 0
        self._turn()

    def shut(self) -> None:
        """Let none through until it is opened."""
        self.is_open = False

    async def idle(self) -> None:
        """Wait until no request is under way and none may start. Bounded: each is waited for 10 s at most."""
        self._turn()
        while self._under_way or self._next() is not None:
            self._moved.clear()
            await self._moved.wait()

    async def delay(self, ms: float) -> None:
        """For a handler whose request is under way: back to the queue, for ``ms`` of the page's clock."""
        request = next((request for request in reversed(self._under_way) if request.redirected_from is None), None)
        if request is None:
            return
        if request.is_navigation_request():
            return
        self._under_way.pop(request).cancel()
        await self._wait(request, self.page_ms() + ms)

    async def _handle(self, route: Route) -> None:
        if route.request.resource_type not in FREE:
            latency = self.latency_ms if route.request.resource_type in CALLS else 0.0
            await self._wait(route.request, self.page_ms() + latency)
        try:
            await route.fallback()
        except Error:  # the page or the request is gone
            self._ended(route.request)

    async def _wait(self, request: Request, due_ms: float) -> None:
        loop = asyncio.get_running_loop()
        ticket = _Ticket(request, due_ms, loop.create_future())
        self._waiting.append(ticket)
        if request.is_navigation_request():
            self.is_open = self.navigated = True
        elif not self.is_open:
            loop.call_later(SHUT_SECONDS, self._hurry, ticket)
        self._turn()
        await ticket.turn

    def _next(self) -> _Ticket | None:
        """The request whose turn it is, if one may start."""
        if not self.is_open:
            return None
        for ticket in self._waiting:
            is_call = ticket.request.resource_type in CALLS
            if ticket.due_ms <= self.page_ms() and (not is_call or self._calls < MAX_CALLS):
                return ticket
        return None

    def _turn(self) -> None:
        """Let the next one start, unless one is under way."""
        ticket = None if self._under_way else self._next()
        if ticket is None:
            self._moved.set()
            return
        self._waiting.remove(ticket)
        self._calls += ticket.request.resource_type in CALLS
        self._follow(ticket.request)
        if not ticket.turn.done():
            ticket.turn.set_result(None)

    def _follow(self, request: Request) -> None:
        self.passed += 1
        loop = asyncio.get_running_loop()
        self._under_way[request] = loop.call_later(STUCK_SECONDS, self._give_up, request)

    def _give_up(self, request: Request) -> None:
        self.note("slow answer")
        self._ended(request)

    def _hurry(self, ticket: _Ticket) -> None:
        """The page, or we, seem to stand still for this very request: a synchronous call, or our own reload."""
        if ticket in self._waiting and not self.is_open:
            self.note("request that could not wait")
            self.open()

    def _began(self, request: Request) -> None:
        if request.redirected_from is not None:  # a redirect is not routed
            self._follow(request)

    def _ended(self, request: Request) -> None:
        for ticket in [ticket for ticket in self._waiting if ticket.request == request]:
            self._waiting.remove(ticket)
            ticket.turn.set_result(None)
        timer = self._under_way.pop(request, None)
        if timer is not None:
            timer.cancel()
        self._turn()

    def _answered(self, response: Response) -> None:
        if response.request not in self._under_way:
            return
        if response.headers.get("content-type", "").startswith(STREAMS):
            self.note("streamed answer")
            self._ended(response.request)
        elif response.request.resource_type in CALLS:
            timer = self._under_way[response.request]
            timer.cancel()
            self._under_way[response.request] = asyncio.get_running_loop().call_later(
                _seconds_of(response), self._ended, response.request)

    def _let_all_go(self) -> None:
        for ticket in self._waiting:
            ticket.turn.cancel()
        for timer in self._under_way.values():
            timer.cancel()
        self._waiting.clear()
        self._under_way.clear()
        self._moved.set()


def _seconds_of(response: Response) -> float:
    """How long the body of a call may take, whose head has come."""
    length = response.headers.get("content-length", "")
    return UNREAD_SECONDS if length.isdigit() and int(length) <= SHORT_BODY else STUCK_SECONDS
