"""Which requests are under way, and which of them our navigations cut off."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from playwright.async_api import Error, Frame, Request, Response

MAX_TRACKED = 20_000
_ENDLESS = ("eventsource", "websocket", "ping")


class Traffic:
    """The requests of one context, at most 20 000 at a time."""

    def __init__(self) -> None:
        self._began: dict[Request, float] = {}
        self._unanswered: set[Request] = set()
        self._navigated: dict[Frame, float] = {}
        self._awaited: dict[Frame, Request] = {}
        self._changed = asyncio.Event()

    def begun(self, request: Request) -> None:
        """A request was sent."""
        now = time.monotonic()
        if len(self._began) < MAX_TRACKED:
            self._began[request] = now
            self._unanswered.add(request)
        if request.is_navigation_request():
            frame = _frame_of(request)
            if frame is not None and (frame in self._navigated or len(self._navigated) < MAX_TRACKED):
                self._navigated[frame] = now
                if frame.parent_frame is None:
                    self._awaited[frame] = request

    def answered(self, response: Response) -> None:
        """The head of an answer has come. Its body may never be read, so its end is not waited for."""
        self._unanswered.discard(response.request)
        self._changed.set()

    def ended(self, request: Request) -> None:
        """A request ended, well or not."""
        self._began.pop(request, None)
        self._unanswered.discard(request)
        self._changed.set()
        for frame, awaited in tuple(self._awaited.items()):
            if awaited is request:
                del self._awaited[frame]

    def arrived(self, frame: Frame) -> None:
        """A frame shows another document."""
        self._awaited.pop(frame, None)
        self._changed.set()

    def cut_off(self, request: Request) -> bool:
        """Whether an aborted request fell to a navigation: its page went on to another document while it was under
        way, or it was itself a navigation that another one or a download took over. To be asked before :meth:`ended`.
        """
        if request.is_navigation_request():
            return True
        frame, began = _frame_of(request), self._began.get(request)
        return began is not None and frame is not None and self._navigated.get(frame, 0.0) > began

    async def answers(self, seconds: float) -> None:
        """Wait until every request has an answer, but for those that have none by their nature."""
        await self._until(lambda: all(request.resource_type in _ENDLESS for request in self._unanswered), seconds)

    async def arrival(self, seconds: float) -> None:
        """Wait for the document that a page has asked for, if it has."""
        await self._until(lambda: not self._awaited, seconds)

    async def _until(self, holds: Callable[[], bool], seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()


def _frame_of(request: Request) -> Frame | None:
    """``None`` for a request of a service worker, and while its page is still being made."""
    try:
        return request.frame
    except Error:
        return None
