"""Deadlines for everything that a hostile page can keep waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from playwright.async_api import Error

T = TypeVar("T")


class Silent(Exception):
    """The page, or the browser, did not answer within its time."""


async def within(seconds: float, work: Awaitable[T]) -> T:
    """The result of ``work``. Raises Silent after ``seconds``, and whatever ``work`` raises."""
    try:
        return await asyncio.wait_for(work, seconds)
    except TimeoutError:
        raise Silent(f"no answer within {seconds:g} s") from None


async def attempt(seconds: float, work: Awaitable[T]) -> T | None:
    """The result of ``work``, or ``None`` if it failed or took too long: for what a session can do without."""
    try:
        return await within(seconds, work)
    except (Silent, Error):
        return None


def first_line(error: BaseException) -> str:
    """What an error of Playwright's says, without the call log below."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
