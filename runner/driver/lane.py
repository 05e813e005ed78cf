"""One lane of a race: a page of its own, a click, and what the application answered to it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass

from playwright.async_api import Error, Request
from playwright.async_api import Response as PlaywrightResponse

from runner.browser.outcome import Lane, Response
from runner.driver.clicks import PreparedClick, Unaimed
from runner.driver.guard import Silent, attempt, first_line
from runner.driver.stage import Stage

FINAL_TEXT = ("#status-box", ".status", "[role=alert]", ".alert")
"""Where applications say how it went, as LOKI looks for it."""
IDEMPOTENCY_HEADERS = ("idempotency-key", "x-idempotency-key")
AIM_SECONDS = 5.0
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_ENDLESS = frozenset({"eventsource", "websocket", "ping", "media"})
_MAX_RESPONSES, _MAX_CRASHES, _MAX_TEXT, _MAX_BODY = 200, 50, 2000, 8 << 20
_BODY_SECONDS = 5.0


@dataclass(slots=True)
class _Tracked:
    """A request that the click set off, and its answer."""

    request: Request
    response: PlaywrightResponse | None = None
    body_sha256: str = ""


class Runner:
    """Takes one lane through a race. ``at`` is the stage of this lane alone."""

    def __init__(self, lane: int, at: Stage) -> None:
        self.lane = lane
        self.at = at
        self.trouble = ""
        self.missing = ""
        self._click: PreparedClick | None = None
        self._selector = at.job.race.selector if at.job.race is not None else None
        self._tracked: dict[Request, _Tracked] = {}
        self._open: set[Request] = set()
        self._reading: set[asyncio.Task[None]] = set()
        self._released = False
        self._last = time.monotonic()

    async def open(self) -> None:
        """Make the page, ready to see its click. Raises Crashed, Error, Silent."""
        await self.at.open()
        session = await self.at.devtools() if self.at.job.browser == "chromium" else None
        self._click = PreparedClick(self.at.page, session)
        await self._click.arm()
        self.at.context.on("request", self._asked)
        self.at.context.on("response", self._answered)
        self.at.context.on("requestfinished", self._ended)
        self.at.context.on("requestfailed", self._ended)

    async def aim(self) -> None:
        """Bring the mouse to the element; ``missing`` says so where there is none."""
        assert self._click is not None
        try:
            await self._click.aim(self._selector, AIM_SECONDS)
        except Unaimed as error:
            self.missing = str(error)
        except (Error, Silent) as error:
            self.missing = f"{self._selector or 'a visible button'} cannot be looked for: {first_line(error)}"

    async def press(self) -> None:
        """The first half of the click."""
        assert self._click is not None
        await self._click.press()

    async def release(self) -> None:
        """The second half. What is asked for from here on counts."""
        assert self._click is not None
        self._released = True
        self._last = time.monotonic()
        await self._click.release()

    def quiet(self, long: float, short: float) -> bool:
        """Whether nothing is under way, and nothing was for ``short`` seconds, or for ``long`` ones where the click
        has not set off any request.
        """
        still = time.monotonic() - self._last
        return not self._open and not self._reading and still >= (short if self._tracked else long)

    async def result(self) -> Lane:
        """What became of this lane."""
        if self._click is None:
            return Lane(self.lane, self._selector)
        await self._click.look()
        crashes = [signal.message for signal in self.at.signals.signals()
                   if signal.kind in ("pageerror", "unhandled_rejection") and not signal.own]
        crashes = [*([self.trouble] if self.trouble else []), *crashes]
        return Lane(self.lane, self._selector, self._click.clicked_ms, tuple(crashes[:_MAX_CRASHES]),
                    tuple(self._responses()), await self._final_text(), bool(self.missing))

    async def _final_text(self) -> str | None:
        for selector in FINAL_TEXT:
            text = await attempt(_BODY_SECONDS, self.at.page.evaluate(
                "(selector) => { const found = document.querySelector(selector);"
                " return found === null ? null : found.textContent.slice(0, 20000); }", selector))
            if text is not None:
                return str(text).strip()[:_MAX_TEXT]
        return None

    def _responses(self) -> list[Response]:
        """State-changing requests and failures, in the order in which they were made."""
        found = []
        for tracked in self._tracked.values():
            request, response = tracked.request, tracked.response
            if response is not None and (request.method in _CHANGING or response.status >= 400):
                found.append(Response(request.method, response.url, response.status, _key_of(request),
                                      tracked.body_sha256))
        return found

    def _asked(self, request: Request) -> None:
        if not self._released:
            return
        self._last = time.monotonic()
        if len(self._tracked) < _MAX_RESPONSES and request.resource_type not in _ENDLESS:
            self._tracked[request] = _Tracked(request)
            self._open.add(request)

    def _answered(self, response: PlaywrightResponse) -> None:
        tracked = self._tracked.get(response.request)
        if tracked is not None:
            tracked.response = response

    def _ended(self, request: Request) -> None:
        if request not in self._open:
            return
        self._last = time.monotonic()
        self._open.discard(request)
        tracked = self._tracked[request]
        if tracked.response is not None and request.method in _CHANGING:
            task = asyncio.ensure_future(self._read(tracked))
            self._reading.add(task)
            task.add_done_callback(self._reading.discard)

    async def _read(self, tracked: _Tracked) -> None:
        """The digest of the body, where the browser still has it and it is not beyond 8 MiB."""
        response = tracked.response
        if response is None or int(_digits(response.headers.get("content-length", ""))) > _MAX_BODY:
            return
        body = await attempt(_BODY_SECONDS, response.body())
        if body is not None:
            tracked.body_sha256 = hashlib.sha256(body).hexdigest()


def _key_of(request: Request) -> str:
    return next((request.headers[name][:500] for name in IDEMPOTENCY_HEADERS if name in request.headers), "")


def _digits(text: str) -> str:
    return text if text.isascii() and text.isdigit() and len(text) < 16 else "0"
