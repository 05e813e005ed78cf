"""Which requests are under way, and which of them our navigations cut off."""

from __future__ import annotations

import time

from playwright.async_api import Error, Request

MAX_TRACKED = 20_000
_ENDLESS = ("eventsource", "websocket", "ping")


class Traffic:
    """The requests of one context. Requests that never end by their nature do not count as under way."""

    def __init__(self) -> None:
        self._began: dict[Request, float] = {}
        self._navigated: dict[object, float] = {}
        self.last = time.monotonic()
        """When the last request began or ended."""

    def begun(self, request: Request) -> None:
        """A request was sent."""
        self.last = now = time.monotonic()
        if len(self._began) < MAX_TRACKED:
            self._began[request] = now
        if request.is_navigation_request():
            frame = _frame_of(request)
            if frame is not None and (frame in self._navigated or len(self._navigated) < MAX_TRACKED):
                self._navigated[frame] = now

    def ended(self, request: Request) -> None:
        """A request ended, well or not."""
        self.last = time.monotonic()
        self._began.pop(request, None)

    def cut_off(self, request: Request) -> bool:
        """Whether an aborted request fell to a navigation: its page went on to another document while it was under
        way, or it was itself a navigation that another one or a download took over. To be asked before :meth:`ended`.
        """
        if request.is_navigation_request():
            return True
        frame, began = _frame_of(request), self._began.get(request)
        return began is not None and frame is not None and self._navigated.get(frame, 0.0) > began

    def under_way(self) -> int:
        """How many requests have begun and not ended."""
        return sum(request.resource_type not in _ENDLESS for request in self._began)

    def navigating(self) -> bool:
        """Whether a document of a page itself was asked for and has not come."""
        for request in self._began:
            frame = _frame_of(request) if request.is_navigation_request() else None
            if frame is not None and frame.parent_frame is None:  # type: ignore[attr-defined]
                return True
        return False


def _frame_of(request: Request) -> object | None:
    """``None`` for a request of a service worker, and while its page is still being made."""
    try:
        return request.frame
    except Error:
        return None
