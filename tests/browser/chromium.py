"""One Chromium for the driver's tests of a file: async Playwright on an event loop that outlives each test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from playwright.async_api import Browser, Playwright, async_playwright

PATH = "/usr/bin/chromium"
T = TypeVar("T")


class Chromium:
    """A browser, and the loop that it lives on."""

    def __init__(self, runner: asyncio.Runner, playwright: Playwright, browser: Browser) -> None:
        self._runner = runner
        self.playwright = playwright
        self.browser = browser

    def run(self, script: Callable[[Browser], Awaitable[T]]) -> T:
        """Let a coroutine function play with the browser."""
        return self._runner.run(_awaited(script, self.browser))


async def _awaited(script: Callable[[Browser], Awaitable[T]], browser: Browser) -> T:
    return await script(browser)


@contextmanager
def chromium() -> Iterator[Chromium]:
    """For a fixture of a module."""
    with asyncio.Runner() as runner:
        manager: Any = async_playwright()
        playwright = runner.run(manager.__aenter__())
        browser = runner.run(_launch(playwright))
        yield Chromium(runner, playwright, browser)
        runner.run(browser.close())
        runner.run(manager.__aexit__())


async def _launch(playwright: Playwright) -> Browser:
    return await playwright.chromium.launch(executable_path=PATH, chromium_sandbox=False)
