"""What the driver knows is not for the scenario's programs, though they are the same user's."""

from __future__ import annotations

import ctypes

_PR_SET_DUMPABLE = 4


def close_to_others() -> None:
    """No process of the same user may look into this one's memory or environment any more (prctl(2)). Programs that are
    started from here are open again.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
