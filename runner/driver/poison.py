"""Corrupting a page's state, with real effect: what is stored, the clock, the quota, a reload on all of that.

A fault takes effect where it stands in the trace, in every document that is open, and in those that are loaded later.
Workers and what a script took hold of before (``const now = Date.now``) are out of reach.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.browser.faults import StateFault
from runner.driver import inpage, poison_scripts
from runner.driver.elements import Failed
from runner.driver.guard import attempt, within
from runner.driver.poison_plan import MAX_KEYS, Snapshot, plan

if TYPE_CHECKING:
    from runner.driver.stage import Stage

__all__ = ["apply", "plan", "snapshot"]

_PATIENCE = 2.5
_RELOAD_SECONDS = 10.0
_BLANK_SECONDS = 0.5
_MAX_FRAMES = 100
_MAX_VALUE = 64 << 10


async def apply(stage: Stage, fault: StateFault) -> StateFault:
    """Carry out one fault; what happened is returned and put at the end of ``stage.applied``. Raises Failed, Silent,
    and playwright's Error, where the page lets nothing be done; the fault counts as applied all the same, so that the
    next one meets its own step.
    """
    happened = fault
    try:
        match fault.fault_type:
            case "clock_drift":
                await _everywhere(stage, poison_scripts.drift(_mark(stage, len(stage.applied)), fault.offset_ms))
            case "quota_exceeded":
                stage.poison_words.add(poison_scripts.QUOTA_WORDS)
                await _everywhere(stage, poison_scripts.quota(_mark(stage)))
            case "poisoned_reload":
                happened = await _reload(stage, fault)
            case _:
                happened = replace(fault, original_value=await _store(stage, fault))
    finally:
        stage.applied.append(happened)
    return happened


async def snapshot(stage: Stage) -> Snapshot:
    """What the page's origin has stored: the first keys by name, long values cut; nothing where it may not store."""
    found = await attempt(_PATIENCE, stage.page.evaluate(poison_scripts.SNAPSHOT, [MAX_KEYS, _MAX_VALUE]))
    match found:
        case [local, session]:
            return Snapshot(_texts(local), _texts(session))
        case _:
            return Snapshot()


def _texts(pairs: object) -> dict[str, str]:
    return {str(pair[0]): str(pair[1]) for pair in pairs} if isinstance(pairs, list) else {}


async def _everywhere(stage: Stage, script: str) -> None:
    """Run a script in each document, those to come first, so that none is missed."""
    await within(_PATIENCE, stage.context.add_init_script(script))
    frames = [frame for page in stage.context.pages for frame in page.frames][:_MAX_FRAMES]
    await asyncio.gather(*(attempt(_PATIENCE, frame.evaluate(script)) for frame in frames))


async def _store(stage: Stage, fault: StateFault) -> str | None:
    if fault.storage_area not in ("localStorage", "sessionStorage") or fault.injected_value is None:
        raise Failed(f"the recording does not say what {fault.fault_type} stored")
    before = await within(_PATIENCE, stage.page.evaluate(
        poison_scripts.STORE, [fault.storage_area, fault.key, fault.injected_value, _mark(stage)]))
    return None if before is None else str(before)


async def _reload(stage: Stage, fault: StateFault) -> StateFault:
    """There is room again for documents from here on, the poisoned values are put back over whatever the page made of
    them, and the page is loaded anew.
    """
    if any(earlier.fault_type == "quota_exceeded" for earlier in stage.applied):
        await within(_PATIENCE, stage.context.add_init_script(poison_scripts.room(_mark(stage))))
    stored = _latest(stage.applied)
    for earlier in stored:
        await attempt(_PATIENCE, _store(stage, earlier))
    trouble = await stage.reload(_RELOAD_SECONDS)
    blank = "" if trouble else await _blank(stage)
    said = [f"reloaded on {len(stored)} poisoned keys"]
    said += [f"collapsed: {blank}"] if blank else []
    said += [f"not loaded within {_RELOAD_SECONDS:g} s: {trouble}"[:300]] if trouble else []
    return replace(fault, details="; ".join(said))


def _latest(applied: Iterable[StateFault]) -> list[StateFault]:
    """The last value for each poisoned key."""
    values = {(fault.storage_area, fault.key): fault for fault in applied if fault.injected_value is not None
              and fault.storage_area in ("localStorage", "sessionStorage")}
    return list(values.values())


async def _blank(stage: Stage) -> str:
    """How the page is blank after its reload, if it is: what shows after half a second still counts."""
    await stage.pace.settle(stage)
    deadline = time.monotonic() + (_BLANK_SECONDS if stage.job.pace == "recorded" else 0.0)
    while True:
        seen = await attempt(_PATIENCE, stage.page.evaluate(inpage.LOOK))
        blank = str(seen.get("blank", ""))[:200] if isinstance(seen, dict) else ""
        if not blank or time.monotonic() >= deadline:
            return blank
        await asyncio.sleep(0.05)


def _mark(stage: Stage, number: int = -1) -> str:
    """A property name for this session that a page does not know."""
    return "m" + hashlib.sha256(f"poison {stage.job.seed} {id(stage)} {number}".encode()).hexdigest()[:16]
