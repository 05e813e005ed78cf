"""Sessions in the stepped pace against a little application that is started anew for each."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from chromium import Chromium
from playwright.async_api import Browser

from runner.browser.job import Chaos, Job, Outputs, Persona, Ready
from runner.browser.outcome import Outcome
from runner.driver.launch import device_of
from runner.driver.session import carry_out
from runner.driver.waiting import wait_ready

APPS = Path(__file__).parent / "apps"


def free_port() -> int:
    """A port for all runs of a session: it is part of the URLs in the trace."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def started(app: str, port: int) -> Iterator[None]:
    """A fresh process of an application, until the end of the block."""
    process = subprocess.Popen([sys.executable, str(APPS / f"{app}.py"), "--port", str(port)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"listening")
        yield
    finally:
        process.kill()
        process.communicate()


def chaos_job(port: int, persona: Persona, *, steps: int, seed: int = 7, path: str = "", state: bool = False,
              api: bool = False) -> Job:
    """A chaos session that leaves no files."""
    return Job("chaos", f"http://127.0.0.1:{port}/{path}", pace="stepped", seed=seed, ready=Ready(timeout=10),
               outputs=Outputs(screenshots=False),
               chaos=Chaos(persona, steps, api_chaos=api, auth_chaos=api, state_chaos=state))


def replay_of(job: Job, outcome: Outcome) -> Job:
    """The job that plays what a chaos session did."""
    return replace(job, mode="play", chaos=None, trace=outcome.trace, api_faults=outcome.api_faults,
                   state_faults=outcome.state_faults)


def perform(chromium: Chromium, app: str, job: Job, out: Path) -> Outcome:
    """Carry out a job against a fresh process of its application, in a fresh context of the browser."""
    port = int(job.url.split(":")[2].split("/")[0])

    async def session(browser: Browser) -> Outcome:
        waiting = asyncio.ensure_future(wait_ready(job))
        outcome = await carry_out(job, out, browser, device_of(chromium.playwright, job), waiting)
        for context in browser.contexts:
            await context.close()
        return outcome

    with started(app, port):
        return chromium.run(session)


def trace_bytes(outcome: Outcome) -> bytes:
    """The trace as it is compared: byte by byte."""
    return json.dumps([asdict(step) for step in outcome.trace]).encode()
