"""Looking at the page itself: frozen, blank, an error page, broken images, a layout that does not fit."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import Error

from runner.driver import inpage
from runner.driver.guard import Silent, attempt, within

if TYPE_CHECKING:
    from runner.driver.stage import Stage

FROZEN_SECONDS = 3.0
"""A page whose event loop does not answer for so long is frozen."""
BLANK_SECONDS = 0.5
"""A page that shows nothing for so long, having shown something, is blank."""
_TITLES = ("500 internal server error", "404 not found", "page not found", "server error", "application error",
           "error 404", "502 bad gateway", "503 service unavailable", "504 gateway timeout", "something went wrong")
_ROUTES = ("/500", "/404", "/error", "/crash", "/oops", "/server-error", "/page-not-found")
"""Titles and routes of error pages, as in LOKI's navigation detector."""


class Looks:
    """What the page of a stage looked like so far."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._had_content = False
        self._blank_since: tuple[float, int, str] | None = None
        self._blank_told = ""
        self.frozen = False
        """Whether the page did not answer when it was last looked at."""
        self._errors: set[str] = set()

    async def look(self) -> bool:
        """Look once; whether the page answered. Never raises for what the page does."""
        stage = self._stage
        if stage.page.is_closed():
            return False
        try:
            seen = await within(0.5 if self.frozen else FROZEN_SECONDS, stage.page.evaluate(inpage.LOOK))
        except Silent:
            stage.check()
            if not self.frozen:
                stage.signals.add("ui_freeze", f"the page did not answer for {FROZEN_SECONDS * 1000:.0f} ms",
                                  page=stage.page.url)
            self.frozen = True
            return False
        except Error:
            return True  # it went on to another document meanwhile
        self.frozen = False
        if isinstance(seen, dict):
            self._judge(seen)
        return True

    def _judge(self, seen: dict[str, Any]) -> None:
        blank, url = str(seen.get("blank", "")), str(seen.get("url", ""))
        self._look_for_blank(blank, bool(seen.get("complete")), url)
        self._look_for_error_page(str(seen.get("title", "")), url)

    def _look_for_blank(self, blank: str, complete: bool, url: str) -> None:
        now = time.monotonic()
        if not blank:
            if complete:
                self._had_content = True
            self._blank_since, self._blank_told = None, ""
            return
        if not self._had_content or blank == self._blank_told:
            return
        if self._blank_since is None or self._blank_since[2] != blank:
            self._blank_since = (now, self._stage.step, blank)
        if now - self._blank_since[0] >= BLANK_SECONDS:
            self._blank_told = blank
            self._stage.signals.add("ui_freeze", blank, page=url)

    def _look_for_error_page(self, title: str, url: str) -> None:
        message = ""
        path = urlsplit(url).path.lower().rstrip("/")
        if any(words in title.lower() for words in _TITLES):
            message = f"Application error page detected by title: '{title}' ({url})"
        elif path.endswith(_ROUTES):
            message = f"Application navigated to error route: '{path}' ({url})"
        if message and message not in self._errors and len(self._errors) < 1000:
            self._errors.add(message)
            self._stage.signals.add("navigation_error", message, url=url)

    async def layout(self) -> None:
        """With a device only: whether the page fits its screen."""
        stage = self._stage
        if stage.job.device is None or self.frozen:
            return
        seen = await attempt(FROZEN_SECONDS, stage.page.evaluate(inpage.LAYOUT))
        if not isinstance(seen, dict):
            return
        width, wide, meta = stage.device.viewport[0], seen.get("wide"), seen.get("meta")
        if isinstance(wide, int | float) and wide > width + 5:
            self._layout(f"Horizontal scroll overflow detected: page content ({wide:g}px) exceeds mobile viewport width"
                         f" ({width}px) by {wide - width:g}px.")
        if meta is None:
            self._layout("Missing <meta name='viewport'> tag: mobile devices will render unoptimized scaled desktop"
                         " view.")
        elif "width=device-width" not in str(meta):
            self._layout("<meta name='viewport'> tag missing 'width=device-width' directive.")

    def _layout(self, message: str) -> None:
        if message not in self._errors:
            self._errors.add(message)
            self._stage.signals.add("layout", message, page=self._stage.page.url)

    async def finish(self) -> None:
        """The last look: a page that is blank now is looked at once more, and the images count."""
        stage = self._stage
        await self.look()
        if self._blank_since is not None and not self._blank_told:
            left = BLANK_SECONDS - (time.monotonic() - self._blank_since[0])
            await asyncio.sleep(max(0.0, left) + 0.02)
            await self.look()
        if self.frozen or stage.page.is_closed():
            return
        await self.layout()
        broken = await attempt(FROZEN_SECONDS, stage.page.evaluate(inpage.BROKEN_IMAGES))
        for url in broken if isinstance(broken, list) else ():
            stage.detectors.resource_failed("img", str(url), f"Broken image in DOM (0px natural width): {url}")
