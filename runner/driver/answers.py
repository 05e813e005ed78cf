"""Answering a routed request: with what the application says, or with something in its place."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from playwright.async_api import APIResponse, Error, Route

from runner.browser.faults import ApiFaultType
from runner.driver.mutation import corrupt, strip
from runner.driver.odds import Answer

MAX_BODY = 4 << 20
"""Bytes. A body beyond this is not changed by a fault, because what a fault answered is kept whole."""
_LEFT_OUT = frozenset({"content-length", "content-encoding", "transfer-encoding", "set-cookie", "content-type"})


@dataclass(frozen=True, slots=True)
class Real:
    """What the application answered. The cookies that it set are in the context already."""

    response: APIResponse
    body: bytes

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.response.status

    @property
    def content_type(self) -> str:
        """As the application names it."""
        return self.response.headers.get("content-type", "")

    @property
    def other_headers(self) -> dict[str, str]:
        """Headers that stay true of another body."""
        return {name: value for name, value in self.response.headers.items() if name not in _LEFT_OUT}


async def ask(route: Route, headers: dict[str, str] | None = None) -> Real | None:
    """Let the application answer, with other request headers if given; ``None`` if it does not."""
    try:
        response = await route.fetch(headers=headers, timeout=0)
        return Real(response, await response.body())
    except Error:
        return None


async def pass_on(route: Route, real: Real) -> None:
    """Answer with what the application said, unchanged."""
    await route.fulfill(response=real.response)


async def answer(route: Route, made: Answer, mark: tuple[str, str], real: Real | None = None) -> None:
    """Answer in the application's place, under a header that says so; beside it the application's own headers, where
    it was asked.
    """
    headers = real.other_headers if real is not None else {}
    await route.fulfill(status=made.status, body=made.body,
                        headers={**headers, "content-type": made.content_type, mark[0]: mark[1]})


def mutated(real: Real, fault_type: ApiFaultType, rng: random.Random) -> tuple[Answer, str] | None:
    """The application's JSON, damaged, and what was done to it; ``None`` where it is no JSON or too much of it."""
    if len(real.body) > MAX_BODY:
        return None
    try:
        value = json.loads(real.body)
        changed, details = _changed(value, fault_type, rng)
        body = json.dumps(changed).encode()
    except (ValueError, RecursionError):
        return None
    return (Answer(real.status, body, real.content_type), details) if len(body) <= MAX_BODY else None


def _changed(value: object, fault_type: ApiFaultType, rng: random.Random) -> tuple[object, str]:
    if fault_type == "schema_strip":
        stripped, dropped = strip(rng, value)
        return stripped, "dropped " + (", ".join(json.dumps(name[:100]) for name in dropped) or "the content")
    return corrupt(rng, value), "changed members of the JSON"
