"""How many intervals were open at once at most, from a stream of them in the order of their ends.

With intervals in that order a new one is the last to end, so it reaches to the end of everything known. Then the peak
equals the number of lanes that this needs: put each interval into the lane whose last end is the latest that is not
after its start, and open a lane if there is none. (The same as sweeping over all starts and ends, ends first, but the
memory is one number for each lane: the peak itself.)
"""

from __future__ import annotations

from bisect import bisect_right, insort

WINDOW = 256
"""How far the order may be off: an interval may come after this many others that end later than it does."""

MOST_OPEN = 10_000
"""Peaks are counted up to here, far above what one k6 can have open."""


class Overlap:
    """Takes half-open intervals [start, end) in seconds; empty ones are never open. Exact for intervals that come
    within WINDOW of their place in the order of ends; ``late`` counts the others, for which the peak may be off.
    """

    __slots__ = ("_lanes", "_last", "_waiting", "late")

    def __init__(self) -> None:
        self._waiting: list[tuple[float, float]] = []
        self._lanes: list[float] = []
        self._last = float("-inf")
        self.late = 0

    def add(self, start: float, end: float) -> None:
        """Take one more."""
        if start < end:
            self._waiting.append((end, start))
            if len(self._waiting) >= 2 * WINDOW:
                self._settle(WINDOW)

    def peak(self) -> int:
        """The most that were open at once, of all so far. Nothing can be added in order afterwards."""
        self._settle(len(self._waiting))
        return len(self._lanes)

    def _settle(self, count: int) -> None:
        """Place the first so many, by their ends."""
        self._waiting.sort()
        lanes = self._lanes
        for end, start in self._waiting[:count]:
            free = bisect_right(lanes, start)
            if free:
                del lanes[free - 1]
            elif len(lanes) >= MOST_OPEN:
                del lanes[0]
            if end < self._last:
                self.late += 1
                insort(lanes, end)
            else:
                self._last = end
                lanes.append(end)
        del self._waiting[:count]
