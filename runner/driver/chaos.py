"""Improvising a session: a persona looks at the page and acts, until its steps or its time are over.

The trace is what really happened, in a form that plays again at the same pace of the page's clock: faults that fired
are marked by steps of their own, and a step whose element had gone is one that only looks. Every draw comes from the
job's seed, and every part draws from a source of its own, so that none changes what another draws.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from runner.browser.faults import ApiFault
from runner.browser.job import Chaos
from runner.browser.outcome import StepRecord
from runner.browser.trace import ApiFaultStep, CookieEviction, StateFaultStep, Step, UiFreezeStep
from runner.driver import poison
from runner.driver.matching import COOKIES_METHOD
from runner.driver.personas.acting import Thinking
from runner.driver.personas.names import PERSONAS
from runner.driver.play import perform
from runner.driver.stage import Stage
from runner.driver.view import look

MAX_STEPS = 5000
"""However long a session is to last."""
GONE = UiFreezeStep(type="look", reason="the element had gone")


class Improvisation:
    """A chaos session on a stage that shows the application's first page.

    ``trace`` and ``actions`` are what has happened so far, also when the browser crashes in the middle. Each record
    is handed to ``taken`` when its step has ended.
    """

    def __init__(self, stage: Stage, chaos: Chaos, taken: Callable[[StepRecord], None]) -> None:
        self.trace: list[Step] = []
        self.actions: list[str] = [f"Started as {chaos.persona} with seed {stage.job.seed}"]
        self._stage = stage
        self._chaos = chaos
        self._taken = taken
        self._told: set[ApiFault] = set()

    async def run(self) -> None:
        """Act until ``steps`` acts of the persona, or ``duration_ms`` of the page's clock, are over. Raises Crashed."""
        stage, chaos = self._stage, self._chaos
        mind = Thinking(PERSONAS[chaos.persona], self._source("persona"))
        await self._mark_faults()
        if chaos.state_chaos:
            await self._poison_the_well()
        acts, began = 0, self._page_ms()
        while len(self.trace) < MAX_STEPS and not self._is_over(acts, began):
            act = mind.next_act(await look(stage.page))
            await self._take(act.step, act.says)
            await self._mark_faults()
            acts += 1
        if chaos.state_chaos:
            await self._take(StateFaultStep("poisoned_reload", "lifecycle"), "Loaded the page again on what is stored")

    def _source(self, part: str) -> random.Random:
        return random.Random(f"{self._stage.job.seed}/{part}")  # noqa: S311 (repeatable, and no secret)

    def _is_over(self, acts: int, began: float) -> bool:
        if self._chaos.steps is not None:
            return acts >= self._chaos.steps
        return self._page_ms() - began >= self._chaos.duration_ms

    def _page_ms(self) -> float:
        passed = self._stage.pace.page_ms
        return self._stage.clock_ms() if passed is None else passed

    async def _take(self, step: Step, says: str) -> None:
        """Take a step and write it down, as it was and not as it was meant."""
        if isinstance(step, CookieEviction):
            step = replace(step, cleared_count=len(await self._stage.context.cookies()))
        record = await perform(self._stage, step)
        if record.state == "missing":
            step, says = GONE, f"{says}: it had gone"
            record = replace(record, state="done", detail=GONE.reason)
        elif record.state == "failed":
            says = f"{says}: {record.detail[:200]}"
        self.trace.append(step)
        self.actions.append(says)
        self._taken(record)

    async def _mark_faults(self) -> None:
        """A step for each fault that answers got since the last time; it lets the page react."""
        fired = self._stage.faults.fired if self._stage.faults is not None else ()
        fresh = [fault for fault in fired if fault not in self._told and fault.method != COOKIES_METHOD]
        self._told.update(fired)
        for fault in fresh:
            await self._take(ApiFaultStep(fault.fault_type, fault.url, fault.status),
                             f"Answered {fault.method} {fault.url[:200]} with {fault.fault_type}")

    async def _poison_the_well(self) -> None:
        """One wave of state faults; its last, a reload, is for the end."""
        stage = self._stage
        faults = poison.plan(self._source("state"), await poison.snapshot(stage))
        stage.state_faults.extend(faults)
        for fault in faults[:-1]:
            step = StateFaultStep(fault.fault_type, f"{fault.storage_area}.{fault.key}", fault.details)
            await self._take(step, f"Corrupted {fault.storage_area}.{fault.key}: {fault.details}")
