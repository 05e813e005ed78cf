"""Finding a step's element and acting on it, however slow the machine and however restless the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from playwright.async_api import ElementHandle, Error

from runner.driver.guard import Silent, first_line, within

if TYPE_CHECKING:
    from runner.driver.stage import Stage

PATIENCE = 1.5
"""Seconds that a step waits for its element."""
ACTING = 10.0
"""Seconds that acting on an element which is there may take; on a busy machine a click alone can take one."""
WILLING = 5.0
"""Seconds that an element may take until it lets itself be filled, or clicked without force."""
_GRACE = 2.0
_LATE = "TimeoutError"
"""How Playwright calls an error of waiting. Its class has the name of one of Python's own, which scripts need too."""


class Missing(Exception):
    """The element of a step is not there to be used: the page is another than the one that was recorded."""


class Failed(Exception):
    """The step was tried and had no effect, on an element that is there."""


class Unanswered(Failed):
    """The page did not answer, so nobody knows what is there."""

    def __init__(self) -> None:
        super().__init__("the page does not answer")


async def found(stage: Stage, selector: str) -> ElementHandle:
    """The first element that fits, once it can be seen: it may belong to a document that is still on its way. Raises
    Missing, Failed, Crashed.
    """
    if stage.page.is_closed():
        raise Missing(f"{selector}: the page was closed")
    try:
        element = await within(PATIENCE + _GRACE, stage.page.wait_for_selector(
            selector, state="visible", timeout=PATIENCE * 1000))
        if element is not None:
            return element
    except Silent:
        stage.check()
        raise Unanswered from None
    except Error as error:
        if error.name == _LATE:
            return await _after_all(stage, selector)
        stage.check()
        raise Missing(f"{selector}: cannot be looked for: {first_line(error)}") from None
    raise Missing(f"{selector}: no such element")


async def _after_all(stage: Stage, selector: str) -> ElementHandle:
    """A last look after the wait: where everything is slow, the wait can end before the first look has."""
    try:
        element = await within(_GRACE, stage.page.query_selector(selector))
        if element is None:
            raise Missing(f"{selector}: no such element")
        if await within(_GRACE, element.is_visible()):
            return element
    except Silent:
        stage.check()
        raise Unanswered from None
    except Error as error:
        stage.check()
        raise Missing(f"{selector}: {first_line(error)}") from None
    raise Missing(f"{selector}: the element is there, but not visible")


async def act(stage: Stage, selector: str, element: ElementHandle | None,
              do: Callable[[ElementHandle], Awaitable[None]], *, willing: bool = True) -> ElementHandle:
    """Act on an element, or on the one that took its place meanwhile; the one that was acted on. ``willing``: it has
    no say in it, so that nothing but a page that does not answer can keep it. Raises Missing, Failed, Crashed.
    """
    if element is not None:
        try:
            await within(ACTING + _GRACE, do(element))
        except Silent:
            stage.check()
            raise Unanswered from None
        except Error:
            # Gone: the document, or what the application drew anew.
            stage.check()
        else:
            return element
    element = await found(stage, selector)
    try:
        await within(ACTING + _GRACE, do(element))
    except Silent:
        stage.check()
        raise Unanswered from None
    except Error as error:
        stage.check()
        raise (Unanswered() if willing and error.name == _LATE else Failed(first_line(error))) from None
    return element
