"""One zstd frame in a stranger's file, decompressed block by block: memory stays flat whatever it holds.

Source of the format: RFC 8878. The library decodes; what is parsed here are the frame's blocks, so that each call
gives at most 128 KiB, and the end of the frame is known to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import BinaryIO

import zstandard

from runner.bundle.layout import FREE_BLOCKS, MAGIC, MAX_BLOCK, MAX_WINDOW, MIN_BLOCK_BYTES, most_expanded
from runner.bundle.rules import refused
from runner.payload.tar import padding

_LONGEST_HEADER = 18
_CHECKSUM = 4
_RLE, _RESERVED = 1, 3


class Frame:
    """The decompressed content of a file, read by exact counts. ``file_bytes`` is the file's size.

    Every method raises BundleRefused. ``logical_bytes`` counts what was decompressed.
    """

    def __init__(self, file: BinaryIO, file_bytes: int, largest: int) -> None:
        self._file = file
        self._largest = largest
        self._most = most_expanded(file_bytes)
        self._digest = sha256()
        self._chunks = self._decompressed()
        self._chunk = memoryview(b"")
        self.logical_bytes = 0

    def read(self, count: int) -> bytes:
        """Exactly ``count`` bytes."""
        parts: list[memoryview] = []
        while count > len(self._chunk):
            parts.append(self._chunk)
            count -= len(self._chunk)
            self._chunk = memoryview(self._next())
        parts.append(self._chunk[:count])
        self._chunk = self._chunk[count:]
        return b"".join(parts)

    def pieces(self, size: int) -> Iterator[bytes]:
        """The content of a file of the stream, piece by piece, and what fills it up to whole tar blocks."""
        left = size
        while left:
            data = self.read(min(left, len(self._chunk) or MAX_BLOCK))
            left -= len(data)
            yield data
        if self.read(-size % 512) != padding(size):
            raise refused("not_canonical", "padding")

    def finish(self) -> str:
        """Prove that frame and file end here; the SHA-256 of the file, lowercase hex."""
        if len(self._chunk) or any(self._chunks):
            raise refused("trailing_bytes", "data after the end of the archive")
        return self._digest.hexdigest()

    def _next(self) -> bytes:
        following = next(self._chunks, None)
        if following is None:
            raise refused("truncated", "the archive has no end")
        return following

    def _decompressed(self) -> Iterator[bytes]:
        """The content in chunks of at most 128 KiB, then the proof that the file ends with the frame."""
        decoder = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        self._decode(decoder, self._header())
        last, blocks = 0, 0
        while not last:
            block = self._take(3)
            word = int.from_bytes(block, "little")
            last, kind, size = word & 1, word >> 1 & 3, word >> 3
            if kind == _RESERVED or size > MAX_BLOCK:
                raise refused("frame", "a block breaks the format")
            block += self._take((1 if kind == _RLE else size) + last * _CHECKSUM)
            blocks += 1
            yield self._decode(decoder, block)
            if blocks > FREE_BLOCKS + self.logical_bytes // MIN_BLOCK_BYTES:
                raise refused("frame", "too many small blocks")
        if not decoder.eof or self._read(1):
            raise refused("trailing_bytes", "data after the compressed frame")

    def _header(self) -> bytes:
        start = self._take(len(MAGIC), otherwise="not_a_bundle")
        if start != MAGIC:
            raise refused("not_a_bundle")
        # The second byte says how long the header is: RFC 8878, section 3.1.1.1.1.
        start += self._take(1)
        size = zstandard.frame_header_size(start + bytes(_LONGEST_HEADER))
        start += self._take(size - len(start))
        try:
            facts = zstandard.get_frame_parameters(start)
        except zstandard.ZstdError as error:
            raise refused("frame", str(error)) from None
        if facts.dict_id or not facts.has_checksum:
            raise refused("frame", "a dictionary" if facts.dict_id else "no checksum")
        if facts.window_size > MAX_WINDOW:
            raise refused("window", f"{facts.window_size} bytes")
        return start

    def _take(self, count: int, otherwise: str = "truncated") -> bytes:
        data = self._read(count)
        if len(data) < count:
            raise refused(otherwise)
        self._digest.update(data)
        return data

    def _read(self, count: int) -> bytes:
        try:
            return self._file.read(count)
        except OSError as error:
            raise refused("unreadable", error.strerror or "") from None

    def _decode(self, decoder: zstandard.ZstdDecompressionObj, data: bytes) -> bytes:
        try:
            decoded = decoder.decompress(data)
        except zstandard.ZstdError as error:
            raise refused("corrupt", str(error)) from None
        self.logical_bytes += len(decoded)
        if self.logical_bytes > self._most:
            raise refused("ratio", f"more than {self._most} bytes")
        if self.logical_bytes > self._largest:
            raise refused("stream_too_large", f"more than {self._largest} bytes")
        return decoded
