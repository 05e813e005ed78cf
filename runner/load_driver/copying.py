"""Copying what a program writes to where it is kept, while it writes: bounded, and never in its way."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import IO

_BLOCK = 1 << 16


class Copier:
    """Copies a stream up to a cap, whole lines of it; what is beyond is read all the same, and counted."""

    def __init__(self, keep: Callable[[bytes], object], cap: int) -> None:
        self.dropped = 0
        self._keep = keep
        self._room = cap
        self._thread: threading.Thread | None = None

    def follow(self, source: IO[bytes]) -> None:
        """In a thread, until the stream ends."""
        self._thread = threading.Thread(target=self._copy, args=(source,), daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> None:
        """Wait until the stream has ended; if somebody still holds it then, nothing more of it is kept."""
        if self._thread is not None:
            self._thread.join(seconds)
            if self._thread.is_alive():
                self._room = 0

    def _copy(self, source: IO[bytes]) -> None:
        with source:
            while block := os.read(source.fileno(), _BLOCK):
                self.take(block)

    def take(self, block: bytes) -> None:
        """More of the stream."""
        kept = block
        if len(block) > self._room:
            kept = block[:block.rfind(b"\n", 0, self._room) + 1]
            self._room = 0
        else:
            self._room -= len(block)
        try:
            if kept:
                self._keep(kept)
        except (OSError, ValueError):  # the volume is full, or the file is closed already
            self._room = 0
            kept = b""
        self.dropped += len(block) - len(kept)


class Tail:
    """The last bytes of a stream."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._kept = bytearray()

    def add(self, block: bytes) -> None:
        """More of the stream."""
        self._kept += block
        if len(self._kept) > 2 * self._cap + _BLOCK:
            del self._kept[:-self._cap]

    def text(self) -> str:
        """What is kept, with a replacement for what is no UTF-8."""
        return bytes(self._kept[-self._cap:]).decode("utf-8", "replace")
