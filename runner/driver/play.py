"""Playing a recorded trace, step by step, each with its real effect."""

from __future__ import annotations

from runner.browser.outcome import StepRecord
from runner.browser.trace import Step
from runner.driver.stage import Stage


async def perform(stage: Stage, step: Step) -> StepRecord:
    """Take one step on the stage's page; counts ``stage.step`` up. Never raises for what the page does."""
    raise NotImplementedError


async def play(stage: Stage) -> tuple[StepRecord, ...]:
    """Take the steps of the job's trace until one is missing its element; the rest are ``skipped``."""
    raise NotImplementedError
