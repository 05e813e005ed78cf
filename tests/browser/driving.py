"""Whole sessions of the driver for its tests: in a Chromium that is shared, or as the program that an image starts."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import PATH, Chromium
from playwright.async_api import Browser

from runner.browser.job import Job, Outputs, Ready, write_job
from runner.browser.outcome import Outcome, Signal
from runner.browser.trace import Step
from runner.driver.launch import device_of
from runner.driver.session import carry_out
from runner.driver.waiting import wait_ready

ROOT = Path(__file__).resolve().parents[2]


def job_for(url: str, *steps: Step, **changes: Any) -> Job:
    """A job that plays these steps on an application that runs already."""
    fields: dict[str, Any] = {"sandbox": False, "hold": False, "ready": Ready(timeout=10.0),
                              "outputs": Outputs(screenshots=False), **changes}
    return Job("play", url, trace=steps, **fields)


def session(chromium: Chromium, job: Job, out: Path) -> Outcome:
    """Carry out a job in the shared browser."""
    out.mkdir(parents=True, exist_ok=True)

    async def script(browser: Browser) -> Outcome:
        try:
            return await carry_out(job, out, browser, device_of(chromium.playwright, job), wait_ready(job))
        finally:
            for context in browser.contexts:
                await context.close()

    return chromium.run(script)


@contextmanager
def mute() -> Iterator[str]:
    """The URL of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def dead() -> str:
    """The URL of a server that is gone."""
    with mute() as url:
        return url


def told(outcome: Outcome) -> list[tuple[str, str]]:
    """Kind and message of every signal that is no noise."""
    return [(signal.kind, signal.message) for signal in outcome.signals if not signal.own]


def of_kind(outcome: Outcome, kind: str) -> list[Signal]:
    """The signals of one kind, noise too."""
    return [signal for signal in outcome.signals if signal.kind == kind]


Ended = tuple[subprocess.CompletedProcess[bytes], dict[str, Any]]


def program(folder: Path, job: Job | bytes, **variables: str) -> Ended:
    """Run ``python -m runner.driver FOLDER``; its end, and its outcome (empty: none was written)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "job.json").write_bytes(job if isinstance(job, bytes) else write_job(job))
    environment = {**os.environ, "RUNNER_CHROMIUM": PATH, **variables}
    done = subprocess.run([sys.executable, "-m", "runner.driver", str(folder)], cwd=ROOT, env=environment,
                          capture_output=True, timeout=300, check=False)
    outcome = folder / "out" / "outcome.json"
    return done, json.loads(outcome.read_bytes()) if outcome.is_file() else {}
