"""The effect of each kind of step, in the browser."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from playwright.async_api import Error

from runner.browser.trace import (
    Click,
    CookieEviction,
    Fill,
    ForceEnable,
    Offline,
    Press,
    StateFaultStep,
    Step,
    TamperHidden,
    Throttle,
    UiFreezeStep,
)
from runner.driver import inpage
from runner.driver.guard import Silent, first_line, within

if TYPE_CHECKING:
    from runner.driver.stage import Stage

PATIENCE = 1.5
"""Seconds that a step waits for its element."""
AFTER_CLICKS, AFTER_OTHERS = 50, 150
"""Milliseconds after a step, as in LOKI's replays."""
_GRACE = 1.0


class Missing(Exception):
    """The element of a step is not there to be used: the page is another than the one that was recorded."""


class Failed(Exception):
    """The step was tried and had no effect, on an element that is there."""


def pause_after(step: Step) -> int:
    """Milliseconds that follow a step."""
    return AFTER_CLICKS if isinstance(step, Click) else AFTER_OTHERS


async def take(stage: Stage, step: Step) -> str:
    """Take a step, with the delays inside it; what is to be said of it, if anything. Raises Missing, Failed, Error,
    Silent.
    """
    match step:
        case Click():
            return await _click(stage, step)
        case Fill():
            await _on_element(stage, step.selector, lambda ms: stage.page.fill(step.selector, step.value, timeout=ms))
        case Press(selector=None):
            await within(PATIENCE + _GRACE, stage.page.keyboard.press(step.key))
        case Press():
            selector = step.selector or ""
            await _on_element(stage, selector, lambda ms: stage.page.press(selector, step.key, timeout=ms,
                                                                            no_wait_after=True))
        case ForceEnable() | TamperHidden():
            script = inpage.FORCE_ENABLE if isinstance(step, ForceEnable) else inpage.TAMPER_HIDDEN
            return f"{await within(PATIENCE + _GRACE, stage.page.evaluate(script))} elements"
        case UiFreezeStep():
            await stage.looks.look()
        case _:
            return await _around(stage, step)
    return ""


async def _around(stage: Stage, step: Step) -> str:
    """The steps that act on the page's surroundings."""
    match step:
        case Offline():
            await stage.set_offline(step.value)
        case Throttle():
            if not await stage.pace.slow_down(stage, step.latency_ms):
                await stage.throttle(step.latency_ms)
        case StateFaultStep():
            return await _state_fault(stage, step)
        case CookieEviction():
            return await _evict(stage)
        case _:
            return "a mark: the fault itself is put into its request"
    return ""


async def _click(stage: Stage, step: Click) -> str:
    for done in range(step.repeat):
        try:
            await _on_element(stage, step.selector, lambda ms: stage.page.click(
                step.selector, force=step.force, timeout=ms, no_wait_after=True))
        except (Missing, Failed) as error:
            if not done:
                raise
            # The first click took the element away, as it may have done when this was recorded.
            return f"{done} of {step.repeat} clicks: {error}"
        await stage.pace.pause(stage, step.delay_ms)
    return ""


async def _on_element(stage: Stage, selector: str, act: object) -> None:
    """Act on the first element that fits, once it is there: it may belong to a document that is still on its way."""
    deadline = time.monotonic() + PATIENCE
    while True:
        left = max(deadline - time.monotonic(), 0.05)
        try:
            await within(left + _GRACE, act(left * 1000))  # type: ignore[operator]
        except Silent:
            stage.check()
            raise Failed("the page does not answer") from None
        except Error as error:
            stage.check()
            why = await _why_not(stage, selector)
            if time.monotonic() + 0.05 < deadline:
                await asyncio.sleep(0.05)
                continue
            if why:
                raise Missing(f"{selector}: {why}") from None
            raise Failed(first_line(error)) from None
        else:
            return


async def _why_not(stage: Stage, selector: str) -> str:
    """Why there is nothing to act on; empty if there is."""
    if stage.page.is_closed():
        return "the page was closed"
    try:
        element = await within(_GRACE, stage.page.query_selector(selector))
        if element is None:
            return "no such element"
        return "" if await within(_GRACE, element.is_visible()) else "the element is there, but not visible"
    except Silent:
        return ""
    except Error as error:
        stage.check()
        return f"cannot be looked for: {first_line(error)}"


async def _state_fault(stage: Stage, step: StateFaultStep) -> str:
    # Only sessions with such steps pay for loading it.
    from runner.driver import poison

    if len(stage.applied) >= len(stage.state_faults):
        raise Failed(f"there is no state fault for this {step.fault_type} step")
    return (await poison.apply(stage, stage.state_faults[len(stage.applied)])).details


async def _evict(stage: Stage) -> str:
    cookies = await within(PATIENCE, stage.context.cookies())
    await within(PATIENCE, stage.context.clear_cookies())
    if stage.faults is not None:
        stage.faults.evicted(len(cookies))
    return f"cleared {len(cookies)} cookies"
