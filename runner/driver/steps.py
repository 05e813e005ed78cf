"""The effect of each kind of step, in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from runner.driver.elements import ACTING, WILLING, Failed, Missing, act
from runner.driver.guard import within

if TYPE_CHECKING:
    from runner.driver.stage import Stage

AFTER_CLICKS, AFTER_OTHERS = 50, 150
"""Milliseconds after a step, as in LOKI's replays."""


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
            await act(stage, step.selector, None, lambda it: it.fill(step.value, timeout=WILLING * 1000),
                      willing=False)
        case Press(selector=str() as selector):
            await act(stage, selector, None, lambda it: it.press(step.key, timeout=ACTING * 1000, no_wait_after=True))
        case Press():
            await within(ACTING, stage.page.keyboard.press(step.key))
        case ForceEnable() | TamperHidden():
            script = inpage.FORCE_ENABLE if isinstance(step, ForceEnable) else inpage.TAMPER_HIDDEN
            return f"{await within(ACTING, stage.page.evaluate(script))} elements"
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
    element = None
    patience = (ACTING if step.force else WILLING) * 1000
    for done in range(step.repeat):
        try:
            element = await act(stage, step.selector, element, lambda it: it.click(
                force=step.force, timeout=patience, no_wait_after=True), willing=step.force)
        except (Missing, Failed) as error:
            if not done:
                raise
            # The first click took the element away, as it may have done when this was recorded.
            return f"{done} of {step.repeat} clicks: {error}"
        await stage.pace.pause(stage, step.delay_ms)
    return ""


async def _state_fault(stage: Stage, step: StateFaultStep) -> str:
    # Only sessions with such steps pay for loading it.
    from runner.driver import poison

    if len(stage.applied) >= len(stage.state_faults):
        raise Failed(f"there is no state fault for this {step.fault_type} step")
    return (await poison.apply(stage, stage.state_faults[len(stage.applied)])).details


async def _evict(stage: Stage) -> str:
    cookies = await within(ACTING, stage.context.cookies())
    await within(ACTING, stage.context.clear_cookies())
    if stage.faults is not None:
        stage.faults.evicted(len(cookies))
    return f"cleared {len(cookies)} cookies"
