"""A line on stderr that is drawn again while the time goes on: on a terminal, and nowhere else.

A line of our own rather than a library's: loading one costs more than a small replay's share of this program.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from runner.cli.terminal import colours, redraws, width

_TICK_SECONDS = 0.25
_CLEAR = "\r\x1b[K"


class Drawing:
    """A line that ``line(room)`` says, in at most ``room`` columns; called under a lock, which ``change`` shares.

    ``plain`` asks for lines also on a terminal, where something else writes to it. Use as a context manager: what it
    drew is gone afterwards.
    """

    def __init__(self, line: Callable[[int], str], *, quiet: bool, plain: bool = False) -> None:
        self._line = line
        self._quiet = quiet
        self._redraws = not quiet and not plain and redraws(sys.stderr)
        self.colours = colours(sys.stderr)
        self._begun = time.monotonic()
        self._drawing = threading.Lock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, name="progress", daemon=True)

    def __enter__(self) -> Self:
        if self._redraws:
            self._draw()
            self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._over.set()
        if self._redraws:
            self._ticker.join()
            _write(_CLEAR)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begun

    def change(self, change: Callable[[], None], plain: Callable[[], str]) -> None:
        """Change what the line says, and show it; where nothing can be drawn over, as a plain line of its own."""
        with self._drawing:
            change()
        if self._redraws:
            self._draw()
        elif not self._quiet:
            _write(plain() + "\n")

    def _tick(self) -> None:
        while not self._over.wait(_TICK_SECONDS):
            self._draw()

    def _draw(self) -> None:
        with self._drawing:
            _write(_CLEAR + self._line(width(sys.stderr) - 1))


def _write(text: str) -> None:
    """In one piece; a reader of progress that went away is no reason to end the work."""
    with suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    whole = int(seconds)
    if whole < 60:
        return f"{seconds:.1f}s"
    return f"{whole // 60}m{whole % 60:02d}s" if whole < 3600 else f"{whole // 3600}h{whole % 3600 // 60:02d}m"
