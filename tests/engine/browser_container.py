"""Run a program in the image `browser` under its policy, in a container as a driver gets it, with loopback only."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from runner.controller.bounds import seal_limits
from runner.controller.observe import observe
from runner.evidence.observation import Observation
from runner.payload.seal import seal
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.policy import Policy, load_policy

POLICY = load_policy("browser")
PYTHON = ("/usr/bin/python3", "-I", "-S", "-B")

BROWSING = """
import asyncio, json, os, sys
sys.path[:0] = ["/opt/runner/site-packages"]
from playwright.async_api import Error, async_playwright
async def launched(playwright, **options):
    path = os.environ["RUNNER_CHROMIUM"]
    return await playwright.chromium.launch(executable_path=path, chromium_sandbox=True, **options)
"""
"""The beginning of a program that starts the image's Chromium."""


def browsing(program: str) -> str:
    """A program: ``async def session(playwright)``, whose answer is printed as JSON."""
    return BROWSING + dedent(program) + dedent("""
        async def main():
            async with async_playwright() as playwright:
                print(json.dumps(await session(playwright)))
        asyncio.run(main())
        """)


def run_in_browser_image(program: str, folder: Path, policy: Policy = POLICY) -> Observation:
    """What came of it. ``folder`` is an empty one for the payload."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    backend = DockerBackend()
    sealed = seal(folder, seal_limits(policy))
    plan = Plan(argv=(*PYTHON, "program.py"), cwd=".", env=(), policy=policy, timeout=120.0, runs=1,
                image=backend.own_image("browser"))
    with backend.open(plan, sealed) as session:
        return next(iter(observe(session, plan, lambda _: None)))


def parsed(seen: Observation) -> Any:
    """The JSON that the program printed; a run that went wrong is shown instead."""
    assert (seen.status.cause, seen.status.returncode) == ("exited", 0), (seen.status, seen.stderr.kept[-3000:])
    return json.loads(seen.stdout.kept)
