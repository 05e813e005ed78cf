"""The stage of one session: a browser context with its page, what was seen on it, and where the session is in time."""

from __future__ import annotations

import asyncio
import random
import secrets
import shutil
import time
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page, Request

from runner.browser.faults import StateFault
from runner.browser.job import Job
from runner.driver import inpage
from runner.driver.detectors import Detectors
from runner.driver.guard import Silent, attempt, first_line, within
from runner.driver.launch import LOCALE, TIMEZONE, Device
from runner.driver.looks import Looks
from runner.driver.parts import Faults, Pace
from runner.driver.shots import Shots, save_dom
from runner.driver.signals import SignalLog
from runner.driver.traffic import Traffic

_OPEN, _FIRST_NAVIGATION, _CLOSE, _BRIEF = 30.0, 15.0, 60.0, 5.0
DOWN, UP = 50 * 1024, 20 * 1024
"""Bytes a second of a slow network, as in LOKI."""


class Unreachable(Exception):
    """The first navigation failed: the application is not there."""


class Crashed(Exception):
    """The browser, or the page that the session plays on, ended in the middle."""


class Stage:
    """One context of a browser, with one page that the session plays on.

    ``page`` is the page that was opened first; pages that it opens are watched too, and closed beyond 20. ``step``
    is the index of the step under way or ended last, -1 before the first. ``rng`` is seeded by the job.
    ``state_faults`` are those that the trace's state fault steps carry out, in order; a session that improvises adds
    to them before it takes the step. ``applied`` are those that were carried out.
    """

    page: Page
    context: BrowserContext

    def __init__(self, browser: Browser, job: Job, out: Path, device: Device, *, pace: Pace) -> None:
        self.browser = browser
        self.job = job
        self.out = out
        self.device = device
        self.pace = pace
        self.faults: Faults | None = None
        self.step = -1
        self.unanswered: int | None = None
        """The first step that could not be taken because the page did not answer."""
        self.rng = random.Random(job.seed)  # noqa: S311 - it is to be repeatable
        self.state_faults: list[StateFault] = list(job.state_faults)
        self.applied: list[StateFault] = []
        self.poison_words: set[str] = set()
        """Texts of the errors that our own state faults throw."""
        self.user_agent = ""
        self.closing = False
        self.traffic = Traffic()
        self.signals = SignalLog(lambda: self.step, self.clock_ms)
        self.detectors = Detectors(self.signals, self.traffic, injected=self._injected, poisoned=self._poisoned,
                                   leaving=lambda: self.closing,
                                   stays=job.mode == "play" and job.pace == "recorded")
        self.looks = Looks(self)
        self.shots = Shots(self)
        self._devtools: CDPSession | None = None
        self._began = time.monotonic()
        self._event = f"e{secrets.token_hex(8)}"
        self._name = f"n{secrets.token_hex(8)}"
        self._opened = self._lost = False
        self._latency_ms: int | None = None
        self._video: Path | None = None

    def clock_ms(self) -> float:
        """Milliseconds since the first navigation began."""
        return (time.monotonic() - self._began) * 1000

    async def open(self) -> None:
        """Make the context and the page, with every detector attached; nothing is navigated yet. Raises Crashed."""
        self.browser.on("disconnected", lambda _: self._disconnected())
        try:
            await within(_OPEN, self._open())
        except (Error, Silent) as error:
            raise Crashed(f"the browser made no page: {first_line(error)}") from None

    async def _open(self) -> None:
        self.context = await self.browser.new_context(**self._options())
        self.context.set_default_timeout(1500)
        self.detectors.attach(self.context)
        await self.context.expose_binding(self._name, lambda _, words: self._reported(words))
        await self.context.add_init_script(inpage.start_script(self._name, self._event))
        if self.faults is not None:
            await self.faults.attach(self.context)
        await self.pace.attach(self)
        if self.job.outputs.trace:
            await self.context.tracing.start(screenshots=True, snapshots=True, sources=False)
        self.page = await self.context.new_page()
        self._opened = True
        self.user_agent = str(await self.page.evaluate("navigator.userAgent"))[:1000]
        if self.job.outputs.video and self.page.video is not None:
            self._video = Path(await self.page.video.path())

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {**self.device.options, "locale": LOCALE, "timezone_id": TIMEZONE,
                                   "accept_downloads": False}
        if self.faults is not None:
            options["service_workers"] = "block"  # what they ask for cannot be routed
        if self.job.outputs.har:
            options |= {"record_har_path": str(self.out / "network.har"), "record_har_content": "embed"}
        if self.job.outputs.video:
            width, height = self.device.viewport
            options |= {"record_video_dir": str(self.out / "videos"),
                        "record_video_size": {"width": width, "height": height}}
        return options

    async def goto(self) -> None:
        """The first navigation: to the job's URL. Raises Unreachable, or Crashed."""
        self._began = time.monotonic()
        try:
            response = await within(_FIRST_NAVIGATION + 1, self.page.goto(
                self.job.url, wait_until="domcontentloaded", timeout=_FIRST_NAVIGATION * 1000))
        except (Error, Silent) as error:
            self.check()
            if not self.page.url.startswith("http"):
                raise Unreachable(f"{self.job.url[:500]}: {first_line(error)[:500]}") from None
            # It has come, and is busy with itself: that is the application's to answer for, and no step of ours.
            self.signals.add("navigation_error", f"the first page was not loaded within {_FIRST_NAVIGATION:g} s",
                             url=self.page.url)
            response = None
        if response is not None and response.status >= 400:
            self.signals.add("navigation_error", f"the first page answered HTTP {response.status}", url=response.url,
                             status=response.status, own="injected" if self._injected(response.request) else "")
        await self.pace.settle(self)
        await self.looks.look()
        await self.looks.layout()

    async def reload(self, seconds: float = 10.0) -> str:
        """Load the page again; what went wrong, if anything. Raises Crashed."""
        try:
            await within(seconds + 1, self.page.reload(wait_until="load", timeout=seconds * 1000))
        except (Error, Silent) as error:
            self.check()
            return first_line(error)
        return ""

    async def throttle(self, latency_ms: int) -> None:
        """Slow the page's network down from here on. Raises Error, Silent."""
        self._latency_ms = latency_ms
        await within(_BRIEF, self._condition(offline=False))

    async def _condition(self, *, offline: bool) -> None:
        if self._latency_ms is None or self.job.browser != "chromium":
            return
        session = await self.devtools()
        await session.send("Network.enable")
        await session.send("Network.emulateNetworkConditions", {
            "offline": offline, "latency": self._latency_ms, "downloadThroughput": DOWN, "uploadThroughput": UP})

    async def set_offline(self, offline: bool) -> None:
        """Cut the network off or restore it, and let every document know as a browser would. Raises Error, Silent."""
        await within(_BRIEF, self.context.set_offline(offline))
        # Chromium takes the conditions of the session that slowed it down, and those alone, for what they are.
        await within(_BRIEF, self._condition(offline=offline))
        await within(_BRIEF, self.context.add_init_script(inpage.online_script(self._event, not offline, quiet=True)))
        script = inpage.online_script(self._event, not offline, quiet=False)
        frames = [frame for page in self.context.pages for frame in page.frames][:100]
        await asyncio.gather(*(attempt(1, frame.evaluate(script)) for frame in frames))

    async def devtools(self) -> CDPSession:
        """A session of Chromium's own protocol with the page. Raises Error."""
        if self._devtools is None:
            self._devtools = await self.context.new_cdp_session(self.page)
        return self._devtools

    async def close(self) -> tuple[str, ...]:
        """Close what must be closed for its recordings to be complete; the names of the files in ``out``. The rest is
        left to the end of the browser. Never raises.
        """
        self.closing = True
        outputs, files = self.job.outputs, list(self.shots.names)
        if not self._opened:
            return tuple(files)
        if outputs.dom and not self._lost:
            files += filter(None, [await save_dom(self)])
        if outputs.trace and await attempt(_CLOSE, self._stop_tracing()):
            files.append("trace.zip")
        if not (outputs.video or outputs.har):
            return tuple(files)
        if self.faults is not None:
            await attempt(_OPEN, self.faults.detach(self.context))
        await attempt(_CLOSE, self.context.close())
        if outputs.video:
            files += self._kept_video()
        if (self.out / "network.har").is_file():
            files.append("network.har")
        return tuple(files)

    async def _stop_tracing(self) -> bool:
        await self.context.tracing.stop(path=str(self.out / "trace.zip"))
        return True

    def _kept_video(self) -> list[str]:
        """Every page has a video; the first page's is the session's."""
        videos = sorted((self.out / "videos").glob("*.webm"), key=lambda path: path.stat().st_ctime_ns)
        path = self._video
        kept = path if path is not None and path in videos else (videos[0] if videos else None)
        if kept is not None:
            kept.rename(self.out / "replay.webm")
        shutil.rmtree(self.out / "videos", ignore_errors=True)
        return ["replay.webm"] if kept is not None else []

    def check(self) -> None:
        """Raises Crashed if the session cannot go on."""
        if self._lost and not self.closing:
            raise Crashed("the browser ended in the middle")
        if self.detectors.crashed:
            raise Crashed(self.detectors.crashed)

    def _disconnected(self) -> None:
        self._lost = True

    def _reported(self, words: Any) -> None:
        if isinstance(words, list) and len(words) <= 8 and all(isinstance(word, str) for word in words):
            self.detectors.reported(words)

    def _injected(self, request: Request) -> bool:
        return self.faults is not None and self.faults.owns(request)

    def _poisoned(self, message: str) -> bool:
        return any(words in message for words in self.poison_words)
