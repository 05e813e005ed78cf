"""One lane of a race: a page of its own that clicks once, and the answers that this got."""

from __future__ import annotations

import asyncio
from hashlib import sha256

from playwright.async_api import Error
from playwright.async_api import Response as PageResponse

from runner.browser.outcome import Lane, Response
from runner.driver.guard import first_line
from runner.driver.stage import Stage
from runner.incidents.races import SAFE_METHODS
from runner.reports.script.parts.base import CouldNotRun, open_stage

FIRST_BUTTON = "button:visible, input[type=submit]:visible, [role=button]:visible"
NOTE_CLICK = """() => addEventListener("click", () => {
  window.clickedAt = window.clickedAt || performance.timeOrigin + performance.now();
}, true)"""


class Racer:
    """Opens its page, waits for its element, and clicks when it is told to."""

    def __init__(self, number: int, selector: str | None, stage: Stage) -> None:
        self.number = number
        self.stage = stage
        self._selector = selector or FIRST_BUTTON
        self._responses: list[PageResponse] = []
        self._clicked_ms: float | None = None

    async def open(self) -> None:
        """Come to where the click is. Raises CouldNotRun without an application or an element to click on."""
        await open_stage(self.stage)
        page = self.stage.page
        try:
            await page.locator(self._selector).first.wait_for(state="visible", timeout=5000)
        except Error:
            raise CouldNotRun(f"lane {self.number}: no element {self._selector} on {page.url}") from None
        await self.stage.traffic.answers(3)
        await page.evaluate(NOTE_CLICK)
        self.stage.context.on("response", self._note)

    def _note(self, response: PageResponse) -> None:
        self._responses.append(response)

    async def click(self) -> None:
        """One click, and time for what it sets off."""
        page = self.stage.page
        try:
            await page.locator(self._selector).first.click(force=True, timeout=2000, no_wait_after=True)
            self._clicked_ms = await page.evaluate("window.clickedAt")
        except Error as error:
            if not self._responses:
                raise CouldNotRun(f"lane {self.number}: the click failed: {first_line(error)}") from None
        for _ in range(2):  # an answer can set off another request
            await asyncio.sleep(0.3)
            await self.stage.traffic.answers(10)

    async def lane(self) -> Lane:
        """What became of it."""
        return Lane(self.number, self._selector, self._clicked_ms,
                    responses=tuple([await self._response(response) for response in self._responses]))

    async def _response(self, response: PageResponse) -> Response:
        request = response.request
        key = digest = ""
        if request.method not in SAFE_METHODS and response.status < 400:
            try:
                key = (await request.all_headers()).get("idempotency-key", "")
                digest = sha256(await response.body()).hexdigest()
            except Error:
                digest = ""  # a redirect has no body, and a page that is gone gives none
        return Response(request.method, response.url, response.status, key, digest)
