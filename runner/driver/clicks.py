"""One trusted click, prepared in full and then released in two halves, and when the page itself saw it.

The mouse is Playwright's, so the event is trusted and goes where a person's would: to whatever lies at that point.
In Chromium the time is taken in an isolated world, which the page's scripts cannot reach, and told by a binding, so
that a click that leads away from the page is timed too. Other engines have no such world: there the page's own is
asked, and a click that leads away has no time.
"""

from __future__ import annotations

import json
import math
from typing import Any

from playwright.async_api import CDPSession, Error, JSHandle, Page

from runner.driver.guard import Silent, attempt, within

_WORLD, _BINDING = "clicks", "clicked"
_BUTTON = "button:visible, input[type=submit]:visible"
_SECONDS = 5.0
_LISTEN = """((tell) => {
  let seen = false;
  window.addEventListener('click', (event) => {
    if (!event.isTrusted || seen) return;
    seen = true;
    tell(performance.timeOrigin + event.timeStamp);
  }, {capture: true});
})"""
_ASK = f"() => {{ const seen = {{at: null}}; {_LISTEN}((at) => {{ seen.at = at; }}); return seen; }}"


class Unaimed(Exception):
    """There is nothing to click at."""


class PreparedClick:
    """A click on one page. ``clicked_ms`` is when the page saw it, in milliseconds since the epoch."""

    def __init__(self, page: Page, session: CDPSession | None) -> None:
        self.clicked_ms: float | None = None
        self._page = page
        self._session = session
        self._asked: JSHandle | None = None

    async def arm(self) -> None:
        """Before the first navigation: get ready to see the click. Raises Error, Silent."""
        if self._session is None:
            return
        self._session.on("Runtime.bindingCalled", self._told)
        await within(_SECONDS, self._session.send("Runtime.enable"))
        await within(_SECONDS, self._session.send("Page.enable"))
        await within(_SECONDS, self._session.send(
            "Runtime.addBinding", {"name": _BINDING, "executionContextName": _WORLD}))
        await within(_SECONDS, self._session.send("Page.addScriptToEvaluateOnNewDocument", {
            "source": f"{_LISTEN}((at) => {_BINDING}(JSON.stringify(at)));", "worldName": _WORLD}))

    async def aim(self, selector: str | None, seconds: float) -> None:
        """Move the mouse over the element, or over the first visible button. Raises Unaimed, Error, Silent."""
        element = self._page.locator(selector if selector is not None else _BUTTON).first
        try:
            await within(seconds + 1, element.wait_for(state="visible", timeout=seconds * 1000))
        except (Error, Silent):
            raise Unaimed(f"{selector or 'a visible button'} is not there, or cannot be seen") from None
        await within(_SECONDS, element.scroll_into_view_if_needed(timeout=_SECONDS * 1000))
        box = await within(_SECONDS, element.bounding_box(timeout=_SECONDS * 1000))
        if box is None:
            raise Unaimed(f"{selector or 'the first button'} has no place on the page")
        await within(_SECONDS, self._page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        if self._session is None:
            self._asked = await within(_SECONDS, self._page.evaluate_handle(_ASK))

    async def press(self) -> None:
        """The first half. Never raises for what a page does."""
        await attempt(_SECONDS, self._page.mouse.down())

    async def release(self) -> None:
        """The second half, which makes it a click. Never raises for what a page does."""
        await attempt(_SECONDS, self._page.mouse.up())

    async def look(self) -> None:
        """Where the engine does not tell by itself, ask whether the page has seen the click."""
        if self._asked is not None and self.clicked_ms is None:
            seen = await attempt(_SECONDS, self._asked.json_value())
            self._take(seen.get("at") if isinstance(seen, dict) else None)

    def _told(self, event: dict[str, Any]) -> None:
        if event.get("name") == _BINDING and self.clicked_ms is None:
            try:
                self._take(json.loads(str(event.get("payload"))[:100]))
            except ValueError:
                return

    def _take(self, at: object) -> None:
        if isinstance(at, int | float) and math.isfinite(at):
            self.clicked_ms = round(float(at), 2)


def spread(times: list[float | None]) -> float | None:
    """Milliseconds from the first click to the last; ``None`` unless every lane's was seen."""
    seen = [at for at in times if at is not None]
    return round(max(seen) - min(seen), 2) if seen and len(seen) == len(times) else None
