"""What both scripts share: the recording, the options, the browser, and how a script ends."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserType, Error, Playwright, async_playwright

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Job, Outputs
from runner.browser.trace import STEPS
from runner.driver.guard import first_line
from runner.driver.launch import NotLaunched
from runner.driver.stage import Crashed, Stage, Unreachable

INCIDENT: dict[str, Any] = json.loads("{}")

REPRODUCED, NOT_REPRODUCED, COULD_NOT_RUN = 1, 0, 2


class CouldNotRun(Exception):
    """Nothing can be said about the recorded failures."""


@dataclass(frozen=True)
class Options:
    """How to run: where the application is, and in which browser."""

    url: str
    browser: str
    executable: str | None
    headed: bool

    def here(self, url: str) -> str:
        """A recorded URL on the application that is tried now."""
        old, new = urlsplit(INCIDENT["url"]), urlsplit(self.url)
        try:
            its = urlsplit(url)
        except ValueError:
            return url
        if (its.scheme, its.netloc) != (old.scheme, old.netloc):
            return url
        return its._replace(scheme=new.scheme, netloc=new.netloc).geturl()


@dataclass(frozen=True)
class Finding:
    """One recorded failure, and how often it was seen now."""

    name: str
    count: int


@dataclass(frozen=True)
class Report:
    """What one session showed. ``others`` are failures that the recording does not have."""

    findings: tuple[Finding, ...]
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def reproduced(self) -> tuple[str, ...]:
        """Names of the recorded failures that were seen."""
        return tuple(finding.name for finding in self.findings if finding.count)


def read_options(arguments: list[str]) -> Options:
    """Options of the command line; where one is missing, REPRO_URL and the like, then what was recorded."""
    parser = argparse.ArgumentParser(description="Play a recorded browser incident again. "
                                                 "Exit 1: reproduced, 0: not reproduced, 2: could not run.")
    parser.add_argument("--url", default=os.environ.get("REPRO_URL") or INCIDENT["url"],
                        help="where the application is (REPRO_URL; default: as recorded)")
    parser.add_argument("--browser", default=os.environ.get("REPRO_BROWSER") or INCIDENT["browser"],
                        choices=["chromium", "firefox", "webkit"], help="(REPRO_BROWSER; default: as recorded)")
    parser.add_argument("--executable", default=os.environ.get("REPRO_EXECUTABLE") or None, metavar="PATH",
                        help="a browser of yours instead of Playwright's (REPRO_EXECUTABLE)")
    parser.add_argument("--headed", action="store_true", default=bool(os.environ.get("REPRO_HEADED")),
                        help="show the browser (REPRO_HEADED)")
    chosen = parser.parse_args(arguments)
    return Options(url=chosen.url, browser=chosen.browser, executable=chosen.executable, headed=chosen.headed)


def job_of(options: Options) -> Job:
    """What the driver is to do, as it was recorded."""
    return Job(mode="play", url=options.url, pace=INCIDENT["pace"], browser=INCIDENT["browser"],
               seed=INCIDENT["seed"] or 0, device=INCIDENT["device"], landscape=INCIDENT["landscape"],
               trace=tuple(STEPS[step["kind"]](**step) for step in INCIDENT["trace"]),
               api_faults=tuple(ApiFault(**{**fault, "url": options.here(fault["url"])})
                                for fault in INCIDENT["api_faults"]),
               state_faults=tuple(StateFault(**fault) for fault in INCIDENT["state_faults"]),
               sandbox=False, outputs=Outputs(screenshots=False))


async def open_stage(stage: Stage) -> None:
    """Come to the application. Raises CouldNotRun where there is none."""
    try:
        await stage.open()
        await stage.goto()
    except Unreachable as error:
        raise CouldNotRun(f"cannot be opened: {error}") from None


async def launch(playwright: Playwright, options: Options) -> Browser:
    """The browser, without its own sandbox, as Playwright starts it. Raises CouldNotRun where there is none."""
    kind: BrowserType = getattr(playwright, options.browser)
    # The lanes of a race that each have a browser start theirs by this name.
    os.environ[f"RUNNER_{options.browser.upper()}"] = options.executable or kind.executable_path
    try:
        return await kind.launch(headless=not options.headed, executable_path=options.executable)
    except Error as error:
        raise CouldNotRun(f"{options.browser} does not start: {first_line(error)} "
                          "(a browser of yours: --executable PATH)") from None


def run(session: Callable[[Playwright, Options], Awaitable[Report]], options: Options) -> Report:
    """One session in a fresh browser. Raises CouldNotRun when nothing can be said, also after too long a time."""
    limit = 120 + 3 * sum(duration_ms(step) for step in INCIDENT["trace"]) / 1000

    async def whole() -> Report:
        async with async_playwright() as playwright:
            return await session(playwright, options)

    try:
        return asyncio.run(asyncio.wait_for(whole(), limit))
    except asyncio.TimeoutError:  # noqa: UP041 - before Python 3.11 it is another class than TimeoutError
        raise CouldNotRun(f"the session did not end within {limit:.0f} s") from None
    except Crashed as error:
        raise CouldNotRun(f"the session ended early: {error}") from None
    except NotLaunched as error:
        raise CouldNotRun(str(error)) from None
    except Error as error:
        raise CouldNotRun(first_line(error)) from error


async def still_there(url: str) -> bool:
    """Whether anything takes connections where the application is."""
    place = urlsplit(url)
    port = place.port or (443 if place.scheme == "https" else 80)
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(place.hostname, port), 10)
    except (OSError, asyncio.TimeoutError):  # noqa: UP041 - as above
        return False
    writer.close()
    return True


def duration_ms(step: dict[str, Any]) -> int:
    """How long a step is meant to take: its recorded delays, and what there is room for between any two."""
    return (step["repeat"] * step["delay_ms"] + 50) if step["kind"] == "click" else 150


def shown(text: object) -> str:
    """A stranger's text on one line of a terminal that obeys none of it."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in str(text))


def main(session: Callable[[Playwright, Options], Awaitable[Report]]) -> int:
    """Run by the command line; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        report = run(session, read_options(sys.argv[1:]))
    except CouldNotRun as error:
        print(f"COULD NOT RUN: {shown(error)}")
        return COULD_NOT_RUN
    except Exception as error:  # noqa: BLE001 - uncaught, it would exit 1, which says that it was reproduced
        print(f"COULD NOT RUN: {type(error).__name__}: {shown(error)}")
        return COULD_NOT_RUN
    for finding in report.findings:
        print(f"{f'seen {finding.count}x' if finding.count else 'not seen'}: {shown(finding.name)}")
    for kind, texts in (("new failure", report.others), ("note", report.notes)):
        for text in texts:
            print(f"{kind}: {shown(text)}")
    seen, wanted = len(report.reproduced), len(report.findings)
    print(f"{'REPRODUCED' if seen else 'NOT REPRODUCED'}: {seen} of {wanted} recorded failures seen")
    return REPRODUCED if seen else NOT_REPRODUCED
