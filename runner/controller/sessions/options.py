"""The options that a session was started with, as a person types them: what it takes to play it again. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from runner.controller.sessions.request import SettledSession
from runner.errors import printable


def options_of(settled: SettledSession) -> tuple[str, ...]:
    """All but payload, command, runs, jobs, environment, policy and timeout, which the evidence has in fields of their
    own. What a recording was told of its application is in its incident, and need not be said again.
    """
    return tuple(printable(word) for pair in _said(settled) for word in pair)


def _said(settled: SettledSession) -> Iterator[tuple[str, ...]]:
    request, application = settled.request, settled.request.application
    if settled.incident is not None or settled.target is None:
        yield from _given(("--target-url", application.url), ("--reset", application.reset))
    if settled.incident is not None:
        status = application.ready_status if application.ready is not None else None
        yield from _given(("--ready", application.ready), ("--ready-status", status),
                          ("--ready-timeout", application.ready_timeout))
        if settled.job.outputs.video:
            yield ("--video",)
    yield from _given(("--docker-network", request.network), ("--docker-image", application.image),
                      ("--browser-image", request.browser_image))


def _given(*options: tuple[str, str | float | None]) -> Iterator[tuple[str, str]]:
    for name, value in options:
        if value is not None:
            yield name, f"{value:g}" if isinstance(value, float) else str(value)
