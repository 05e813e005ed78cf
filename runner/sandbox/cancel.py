"""A switch that any thread may throw once, and that a waiting loop sees at once through a descriptor."""

from __future__ import annotations

import os
import threading


class Cancel:
    """Not thrown at first. Safe from any thread and after :meth:`close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thrown = threading.Event()
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    @property
    def thrown(self) -> bool:
        """Whether somebody asked to end everything."""
        return self._thrown.is_set()

    def fileno(self) -> int:
        """Readable once thrown; stays so."""
        return self._descriptor

    def throw(self) -> None:
        """Ask everything that waits on this to end."""
        with self._lock:
            if self._thrown.is_set():
                return
            self._thrown.set()  # first: whoever is woken by the descriptor looks at this
            if self._descriptor >= 0:
                os.eventfd_write(self._descriptor, 1)

    def close(self) -> None:
        """Give the descriptor back; safe to call more than once."""
        with self._lock:
            if self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
