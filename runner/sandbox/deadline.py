"""One moment by which something must be over. Made once, then handed down; never re-made on the way."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Protocol


class Limit(Protocol):
    """How long something may still take."""

    def remaining(self) -> float:
        """Seconds left, never negative."""

    @property
    def expired(self) -> bool:
        """Whether nothing is left."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock: a changed wall clock cannot move it. ``at`` is in its seconds."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The moment ``seconds`` from now; already expired for zero or less. Raises ValueError for NaN."""
        if math.isnan(seconds):
            raise ValueError("a deadline needs a number of seconds")
        return cls(time.monotonic() + seconds)

    def remaining(self) -> float:
        """Seconds left, never negative: fit for any ``timeout=``."""
        return max(0.0, self.at - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether nothing is left."""
        return self.remaining() <= 0.0
