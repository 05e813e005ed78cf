"""Waiting for something to become true, with a deadline. A deadline that passes is a failure, never a pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DEADLINE = 30.0
_PAUSE = 0.02


def eventually(true: Callable[[], object], otherwise: str, seconds: float = DEADLINE) -> None:
    """Return as soon as ``true()`` is; fail with ``otherwise`` when it is not within ``seconds``."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, otherwise
        threading.Event().wait(_PAUSE)
