"""The steward's side of its stdin: requests, and the bytes that follow one."""

from __future__ import annotations

from collections.abc import Callable

from runner.errors import SeedMismatch
from runner.payload import frames


class Inbox:
    """Takes frames from ``read``, which gives exactly the number of bytes it is asked for."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read
        self._data = b""
        self._position = 0
        self._open = False

    def request(self) -> tuple[bytes, ...]:
        """The next request's fields, the operation first. Raises FrameError."""
        frame = frames.read_frame(self._read)
        fields = frame.fields if frame.tag == frames.REQUEST else ()
        if not fields:
            raise frames.FrameError("a request was expected")
        self._open = fields[0] == b"put"
        return fields

    def read(self, count: int) -> bytes:
        """Exactly ``count`` bytes of the DATA frames after a request. Raises SeedMismatch when there are fewer."""
        parts: list[bytes] = []
        while count:
            if self._position == len(self._data) and not self._next():
                raise SeedMismatch("the payload stream ended early")
            part = self._data[self._position:self._position + count]
            self._position += len(part)
            count -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def drain(self) -> int:
        """Take what is left of the DATA frames, so that the next request can follow; returns how many bytes."""
        left = len(self._data) - self._position
        self._position = len(self._data)
        while self._next():
            left += len(self._data)
            self._position = len(self._data)
        return left

    def _next(self) -> bool:
        """Take one more DATA frame, if there is one."""
        if not self._open:
            return False
        frame = frames.read_frame(self._read)
        self._open = frame.tag == frames.DATA
        self._data, self._position = frame.body if self._open else b"", 0
        return self._open
