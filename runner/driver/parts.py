"""What a stage needs of its other rooms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from playwright.async_api import BrowserContext, Request

from runner.browser.faults import ApiFault

if TYPE_CHECKING:
    from runner.driver.stage import Stage


class Pace(Protocol):
    """How a session passes time: the wall's, or the page's own stepped by us."""

    @property
    def page_ms(self) -> float | None:
        """Milliseconds that have passed on the page's clock, where it is ours; ``None`` where it is the wall's."""

    @property
    def uncontrolled(self) -> tuple[str, ...]:
        """Sources of change that could not be held to the steps."""

    async def attach(self, stage: Stage) -> None:
        """Prepare the context, before its first page and after every other route."""

    async def settle(self, stage: Stage) -> None:
        """After a step: wait until the page is quiet."""

    async def pause(self, stage: Stage, ms: float) -> None:
        """Let ``ms`` milliseconds of a recorded delay pass."""

    async def delay(self, ms: float) -> None:
        """Hold the answer to a request back for ``ms`` milliseconds; for the handler of that request."""

    async def slow_down(self, stage: Stage, latency_ms: float) -> bool:
        """Whether it has slowed the network down by itself."""


class Faults(Protocol):
    """Faults that are put into an application's answers."""

    @property
    def fired(self) -> tuple[ApiFault, ...]:
        """What was done, in order."""

    async def attach(self, context: BrowserContext) -> None:
        """Take hold of the requests, before the first navigation."""

    async def detach(self, context: BrowserContext) -> None:
        """Let go of them, before the context is closed."""

    def owns(self, request: Request) -> bool:
        """Whether we made up the answer of this very request; a header alone could be forged by the application."""

    def unreached(self) -> tuple[str, ...]:
        """A line for each recorded fault whose request did not come."""

    def evicted(self, count: int) -> None:
        """A step has cleared all ``count`` cookies."""
