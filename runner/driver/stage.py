"""The stage of one session: a browser context with its page, what was seen on it, and where the session is in time."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Browser, BrowserContext, Page, Request

from runner.browser.faults import ApiFault
from runner.browser.job import Job
from runner.driver.signals import SignalLog

VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1280, 720
LOCALE, TIMEZONE = "en-US", "UTC"


class Pace(Protocol):
    """How a session passes time: the wall's, or the page's own stepped by us."""

    async def attach(self, stage: Stage) -> None:
        """Prepare the context, before the first navigation."""

    async def settle(self, stage: Stage) -> None:
        """After a step: wait until the page is quiet."""

    async def pause(self, stage: Stage, ms: float) -> None:
        """Let ``ms`` milliseconds of a recorded delay pass."""


class Faults(Protocol):
    """Faults that are put into an application's answers."""

    @property
    def fired(self) -> tuple[ApiFault, ...]:
        """What was done, in order."""

    async def attach(self, context: BrowserContext) -> None:
        """Take hold of the requests, before the first navigation."""

    def owns(self, request: Request) -> bool:
        """Whether we made up the answer of this very request (a header alone could be forged by the application)."""


class Stage:
    """One context of a browser, with one page that the session plays on.

    ``page`` is the page that was opened first; pages that it opens are watched too, and closed beyond 20. ``step``
    is the index of the step under way or ended last, -1 before the first. ``rng`` is seeded by the job.
    """

    page: Page
    context: BrowserContext

    def __init__(self, browser: Browser, job: Job, out: Path, *, pace: Pace, options: dict[str, Any] | None = None) -> None:
        self.browser = browser
        self.job = job
        self.out = out
        self.pace = pace
        self.faults: Faults | None = None
        self.step = -1
        self.rng = random.Random(job.seed)
        self.signals = SignalLog(lambda: self.step, self.clock_ms)
        self._options = options or {}
        self._began = time.monotonic()

    def clock_ms(self) -> float:
        """Milliseconds since the first navigation began."""
        return (time.monotonic() - self._began) * 1000

    async def open(self) -> None:
        """Make the context and the page, with every detector attached; nothing is navigated yet."""
        raise NotImplementedError

    async def goto(self) -> None:
        """The first navigation: to the job's URL. Raises Unreachable."""
        raise NotImplementedError

    async def close(self) -> None:
        """Close what must be closed for its recordings to be complete (video, HAR, trace)."""
        raise NotImplementedError
