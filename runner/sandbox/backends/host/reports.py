"""What the guard of a host run reports, as it arrives. The lines are drawn in ``supervisor.py``."""

from __future__ import annotations

import json
import os
from typing import Literal

from runner.sandbox.exit import Trailer

Event = Literal["ready", "ended", "over"]
_READ_BYTES = 1 << 16


class Reports:
    """The reading end of the guard's channel; closed once guard and keeper are both gone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._partial = b""
        self._events: dict[str, dict[str, object]] = {}
        self.closed = False

    def fileno(self) -> int:
        """Readable when there is something to :meth:`read`."""
        return self._descriptor

    def read(self) -> None:
        """Take what is there."""
        data = os.read(self._descriptor, _READ_BYTES)
        if not data:
            self.closed = True
            return
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            report = json.loads(line)
            self._events[report.pop("event")] = report

    def has(self, event: Event) -> bool:
        """Whether ``event`` was reported."""
        return event in self._events

    def number(self, event: Event, name: str) -> int | None:
        """A figure of an event, or ``None`` when it was not reported."""
        value = self._events.get(event, {}).get(name)
        return value if isinstance(value, int) else None

    def trailer(self) -> Trailer | None:
        """How the command ended, or ``None`` when its end was not seen."""
        ended = self._events.get("ended", {})
        kind, code = ended.get("kind"), ended.get("code")
        if kind not in ("exited", "signaled", "not_started") or not isinstance(code, int):
            return None
        return Trailer(kind, code, user_us=self.number("over", "user_us") or 0,
                       system_us=self.number("over", "system_us") or 0,
                       max_rss=self.number("over", "max_rss") or 0)
