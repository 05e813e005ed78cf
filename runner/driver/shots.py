"""Pictures of failing steps, and the document as it was at the end."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from runner.driver.guard import attempt

if TYPE_CHECKING:
    from runner.driver.stage import Stage

MAX_SHOTS, MAX_SHOT = 20, 4 << 20
MAX_DOM = 2 << 20
_SECONDS = 3.0


class Shots:
    """At most 20 pictures of one session, each at most 4 MiB."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.names: list[str] = []

    async def take(self) -> str:
        """A picture of the page as it is, named after the step; the file's name, or nothing if there is none."""
        stage = self._stage
        name = f"shot-{max(stage.step, 0)}.png"
        full = name in self.names or len(self.names) >= MAX_SHOTS
        if full or stage.looks.frozen or not stage.job.outputs.screenshots:
            return ""
        picture = await attempt(_SECONDS, self._picture())
        if picture is None or len(picture) > MAX_SHOT:
            return ""
        if not _kept(stage.out / name, picture):
            return ""
        self.names.append(name)
        return name

    async def _picture(self) -> bytes:
        stage = self._stage
        if stage.job.browser != "chromium":
            return await stage.page.screenshot(timeout=_SECONDS * 1000)
        # Playwright's own way first waits for fonts and frames, which costs the session 100 ms and a hostile page more.
        session = await stage.devtools()
        answer = await session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
        return base64.b64decode(answer["data"])


async def save_dom(stage: Stage) -> str:
    """The document as HTML, capped at 2 MiB; the file's name, or nothing if the page did not tell."""
    text = await attempt(_SECONDS, stage.page.evaluate(
        f"() => document.documentElement ? document.documentElement.outerHTML.slice(0, {MAX_DOM}) : ''"))
    if not isinstance(text, str) or not text:
        return ""
    return "dom.html" if _kept(stage.out / "dom.html", text.encode("utf-8", "replace")[:MAX_DOM]) else ""


def _kept(path: Path, data: bytes) -> bool:
    """Whether there was room for it: recordings of a page that floods can fill the volume."""
    try:
        path.write_bytes(data)
    except OSError:
        path.unlink(missing_ok=True)
        return False
    return True
