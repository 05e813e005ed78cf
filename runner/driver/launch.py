"""Starting the browser, and what the session's context is made with."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserType, Error, Playwright

from runner.browser.job import Job
from runner.browser.outcome import BrowserFacts
from runner.driver.guard import Silent, first_line, within

LOCALE, TIMEZONE = "en-US", "UTC"
WIDTH, HEIGHT = 1280, 720
_START = 60.0


class NotLaunched(Exception):
    """There is no such browser or device here, or it did not start; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device of Playwright's catalogue, as options of a context."""

    name: str
    options: dict[str, Any]

    @property
    def viewport(self) -> tuple[int, int]:
        """Width and height in CSS pixels."""
        size = self.options["viewport"]
        return size["width"], size["height"]


async def launch(playwright: Playwright, job: Job) -> Browser:
    """Start the job's browser. Raises NotLaunched."""
    return await start(getattr(playwright, job.browser), job)


async def start(kind: BrowserType, job: Job) -> Browser:
    """Start a browser of this kind as the job wants it. Raises NotLaunched."""
    path = executable(job.browser)
    options: dict[str, Any] = {"chromium_sandbox": job.sandbox} if job.browser == "chromium" else {}
    try:
        return await within(_START, kind.launch(executable_path=path, timeout=_START * 1000, **options))
    except (Error, Silent) as error:
        raise NotLaunched(f"{job.browser} did not start: {first_line(error)}") from None


def executable(browser: str) -> str:
    """Where the browser is, by RUNNER_CHROMIUM, RUNNER_FIREFOX or RUNNER_WEBKIT. Raises NotLaunched."""
    name = f"RUNNER_{browser.upper()}"
    path = os.environ.get(name) or ("/usr/bin/chromium" if browser == "chromium" else "")
    if not path:
        raise NotLaunched(f"this image has no {browser}: use one that brings it and sets {name}")
    if not Path(path).is_file():
        raise NotLaunched(f"there is no {browser} at {path}, which {name} names")
    return path


def device_of(playwright: Playwright, job: Job) -> Device:
    """The job's device, or the plain desktop. Raises NotLaunched for one that is not in the catalogue."""
    if job.device is None:
        return Device("", {"viewport": {"width": WIDTH, "height": HEIGHT}})
    catalogue = playwright.devices
    name = _in_catalogue(job.device, catalogue)
    if job.landscape and f"{name} landscape" in catalogue:
        name = f"{name} landscape"
    if name not in catalogue:
        lower = {known.lower(): known for known in catalogue}
        near = [lower[found] for found in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)]
        raise NotLaunched(f"no device is called {name!r}" + (f"; did you mean {', '.join(near)}?" if near else ""))
    options = dict(catalogue[name])
    options.pop("default_browser_type", None)
    width, height = options["viewport"]["width"], options["viewport"]["height"]
    if job.landscape and height > width:
        options["viewport"] = {"width": height, "height": width}
        if "screen" in options:
            options["screen"] = {"width": options["screen"]["height"], "height": options["screen"]["width"]}
    if job.browser == "firefox":
        options.pop("is_mobile", None)  # Playwright's Firefox refuses it
    return Device(name, options)


def _in_catalogue(name: str, catalogue: Iterable[str]) -> str:
    """The catalogue's own spelling: ``iphone-15`` is ``iPhone 15``. What is not there stays as it is."""
    wanted = _plain(name)
    return next((known for known in catalogue if known == name or _plain(known) == wanted), name)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def facts_of(browser: Browser, job: Job, device: Device, playwright_version: str) -> BrowserFacts:
    """The browser as it was started; its sandbox is for :mod:`runner.driver.confined` to see."""
    width, height = device.viewport
    return BrowserFacts(name=job.browser, version=browser.version, playwright=playwright_version,
                        user_agent=str(device.options.get("user_agent", "")), viewport=f"{width}x{height}",
                        device=device.name, locale=LOCALE)
