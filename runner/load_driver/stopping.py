"""The request to end early: a signal sets it, and whoever waits looks at it."""

from __future__ import annotations

import signal
import time

_SLICE = 0.02


class Stop:
    """A plain flag: a lock in it could be held by the very code that the signal interrupts."""

    def __init__(self) -> None:
        self.asked = False

    def ask(self, *_: object) -> None:
        """End early; what was made is removed all the same. May be a signal's handler."""
        self.asked = True

    def listen(self) -> None:
        """From now on SIGTERM and SIGINT ask for it."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.ask)

    def pause(self, seconds: float) -> None:
        """Sleep so long, or until it is asked for."""
        deadline = time.monotonic() + seconds
        while not self.asked and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE))
