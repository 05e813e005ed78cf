"""The log of signals: what was seen on the pages, bounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from runner.browser.outcome import Own, Signal, SignalKind

MAX_SIGNALS = 2000
MAX_TEXT = 8 << 10


class SignalLog:
    """Signals in the order in which they came. At most 2000 are kept, each text up to 8 KiB; the rest is counted."""

    def __init__(self, current_step: Callable[[], int], clock_ms: Callable[[], float]) -> None:
        self._current_step = current_step
        self._clock_ms = clock_ms
        self._kept: list[Signal] = []
        self._dropped: Counter[str] = Counter()

    def add(self, kind: SignalKind, message: str, *, stack: str = "", method: str = "", url: str = "",
            status: int | None = None, resource: str = "", page: str = "", own: Own = "") -> None:
        """One more signal, at this moment and step."""
        if len(self._kept) >= MAX_SIGNALS:
            self._dropped[kind] += 1
            return
        self._kept.append(Signal(kind, self._current_step(), round(self._clock_ms(), 1), message[:MAX_TEXT],
                                 stack[:MAX_TEXT], method[:MAX_TEXT], url[:MAX_TEXT], status, resource, page[:MAX_TEXT],
                                 own=own))

    def signals(self) -> tuple[Signal, ...]:
        """All that was kept."""
        return tuple(self._kept)

    def dropped(self) -> tuple[tuple[str, int], ...]:
        """How many of each kind were not kept."""
        return tuple(sorted(self._dropped.items()))
