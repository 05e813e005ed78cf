"""Asking a page from a world of its own, where the page's scripts cannot change what the question is made of."""

from __future__ import annotations

import json
from typing import Any

from playwright.async_api import CDPSession, Error, Page

WORLD = "view"


async def ask(page: Page, function: str, argument: object) -> Any:
    """What ``function`` (JavaScript, of one argument) says in the main frame; its answer is plain data.

    Chromium runs it in an isolated world. Other engines offer none here and run it in the page's. Raises
    playwright's Error where the page cannot be asked.
    """
    if page.context.browser is None or page.context.browser.browser_type.name != "chromium":
        return await page.evaluate(function, argument)
    session = await page.context.new_cdp_session(page)
    try:
        return await _isolated(session, f"({function})({json.dumps(argument)})")
    finally:
        await _let_go(session)


async def _isolated(session: CDPSession, expression: str) -> Any:
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld",
                               {"frameId": tree["frameTree"]["frame"]["id"], "worldName": WORLD})
    found = await session.send("Runtime.evaluate", {
        "expression": expression, "contextId": world["executionContextId"], "returnByValue": True,
        "awaitPromise": True})
    if "exceptionDetails" in found:
        raise Error(str(found["exceptionDetails"].get("text", "the page cannot be looked at"))[:200])
    return found["result"].get("value")


async def _let_go(session: CDPSession) -> None:
    try:
        await session.detach()
    except Error:  # the page has closed, and the session with it
        return
