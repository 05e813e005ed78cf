"""Follow one guarded run from its release until nothing of it is left."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass

from runner.sandbox.backends.host.guard import END_SECONDS, Guard, not_ended
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline
from runner.sandbox.exit import StopReason, Trailer
from runner.sandbox.output import Buffer, OutputPair

_READ_BYTES = 1 << 18
_LONGEST_WAIT = 3600.0


@dataclass(frozen=True, slots=True)
class Ending:
    """How a guarded run ended. ``trailer`` is ``None`` when the command's own end was not seen.

    ``cpu_seconds`` is of everything the run started, ``peak_memory`` (bytes) of its largest process. The latter
    never falls below the interpreter that forked it, about 10 MiB: Linux carries that peak over an exec.
    """

    trailer: Trailer | None
    stopped: StopReason | None
    wall_seconds: float
    cpu_seconds: float | None
    peak_memory: int | None

    @classmethod
    def of_nothing(cls, stopped: StopReason | None) -> Ending:
        """The ending of a run whose command was never released."""
        return cls(None, stopped, 0.0, None, None)


class Pump:
    """Moves output and reports of one guard; stops it at a cap, at the deadline or on cancel."""

    def __init__(self, guard: Guard, output: OutputPair, deadline: Deadline, cancel: Cancel) -> None:
        self._guard = guard
        self._output = output
        self._deadline = deadline
        self._cancel = cancel
        self._buffer = memoryview(bytearray(_READ_BYTES))
        self._stopped: StopReason | None = None
        self._grace: Deadline | None = None
        self._begun = time.monotonic()

    def run(self) -> Ending:
        """Pump until nothing that the run started is left. Raises SetupError when it cannot be ended."""
        reports = self._guard.reports
        with selectors.DefaultSelector() as selector:
            for descriptor, feed in self._streams():
                selector.register(descriptor, selectors.EVENT_READ, self._reader(selector, descriptor, feed))
            selector.register(reports, selectors.EVENT_READ, reports.read)
            selector.register(self._cancel, selectors.EVENT_READ, lambda: selector.unregister(self._cancel))
            while not reports.closed:
                self._decide()
                limit = self._grace or self._deadline
                for key, _ in selector.select(min(limit.remaining(), _LONGEST_WAIT)):
                    key.data()
        for descriptor, feed in self._streams():
            while self._move(descriptor, feed):
                pass
        return self._ending()

    def _decide(self) -> None:
        """Whether it is time to stop the run, or to give up on a run that does not stop."""
        if self._stopped is None:
            self._stopped = self._why_stop()
            if self._stopped is not None:
                self._guard.end()
        if self._grace is not None:
            if self._grace.expired:
                raise not_ended()
        elif self._stopped is not None or self._guard.reports.has("ended"):
            self._grace = Deadline.after(END_SECONDS)

    def _why_stop(self) -> StopReason | None:
        if self._cancel.thrown:
            return StopReason.CANCEL
        if self._output.over_limit:
            return StopReason.OUTPUT
        if self._deadline.expired and not self._guard.reports.has("ended"):
            return StopReason.DEADLINE
        return None

    def _streams(self) -> tuple[tuple[int, Callable[[Buffer], None]], ...]:
        return ((self._guard.stdout, self._output.feed_stdout),
                (self._guard.stderr, self._output.feed_stderr))

    def _reader(self, selector: selectors.BaseSelector, descriptor: int,
                feed: Callable[[Buffer], None]) -> Callable[[], None]:
        def read() -> None:
            if not self._move(descriptor, feed):
                selector.unregister(descriptor)
        return read

    def _move(self, descriptor: int, feed: Callable[[Buffer], None]) -> int:
        """Bytes moved; 0 at the end of the stream, and when nothing is there."""
        try:
            count = os.readv(descriptor, [self._buffer])
        except BlockingIOError:
            return 0
        feed(self._buffer[:count])
        return count

    def _ending(self) -> Ending:
        reports = self._guard.reports
        user, system = reports.number("over", "user_us"), reports.number("over", "system_us")
        wall = reports.number("ended", "wall_us")
        stopped = self._stopped
        if stopped is None and self._output.over_limit:
            stopped = StopReason.OUTPUT
        return Ending(
            trailer=reports.trailer(), stopped=stopped,
            wall_seconds=time.monotonic() - self._begun if wall is None else wall / 1e6,
            cpu_seconds=None if user is None or system is None else (user + system) / 1e6,
            peak_memory=reports.number("over", "max_rss"))
