"""A stream of chunks, read by exact counts."""

from __future__ import annotations

from collections.abc import Iterator

from runner.errors import PayloadRefused


class ExactReader:
    """Call it with a number of bytes; it gives exactly so many. Raises PayloadRefused when the stream ends."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._chunk = memoryview(b"")

    def __call__(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        parts: list[memoryview] = []
        while count > len(self._chunk):
            parts.append(self._chunk)
            count -= len(self._chunk)
            following = next(self._chunks, None)
            if following is None:
                raise PayloadRefused("the payload stream ended early", rule="malformed_stream", path=b"")
            self._chunk = memoryview(following)
        parts.append(self._chunk[:count])
        self._chunk = self._chunk[count:]
        return b"".join(parts)
