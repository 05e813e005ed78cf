"""Length-prefixed frames: the language between the steward and its client.

A frame is the body's length in 4 bytes big-endian, one tag byte, the body. Bodies of structured frames are
fields, each with its length in 4 bytes. Numbers are decimal ASCII. Both ends refuse what exceeds the caps here.

::

    client                                 steward
    REQUEST op, argument...           ->
    DATA* DONE (after put only)       ->
                                      <-   (ITEM field... DATA*)*
                                      <-   DONE field...   or   FAILED code, message
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

PROTOCOL = 2
MAX_BODY = 1 << 20
MAX_DATA = 256 << 10
"""Bytes of one DATA frame."""
MAX_CHANGES = 10_000
MAX_CHANGE_TEXT = 8 << 20
"""Changes that one answer lists, and bytes of all their paths and details."""
MAX_TEXT = 4096
"""Bytes of a note, a detail or a message."""
MAX_VOLUMES = 1024
MAX_PATTERNS = 64

REQUEST, DATA, ITEM, DONE, FAILED = b"Q", b"D", b"I", b"E", b"X"
_TAGS = frozenset({REQUEST, DATA, ITEM, DONE, FAILED})
_LENGTH = 4
_MAX_DIGITS = 20


class FrameError(Exception):
    """Bytes that are no frame, or fields that are not what was agreed."""


class Frame(NamedTuple):
    """One message."""

    tag: bytes
    body: bytes

    @property
    def fields(self) -> tuple[bytes, ...]:
        """The body's fields. Raises FrameError."""
        return unpack(self.body)


def encode(tag: bytes, *fields: bytes) -> bytes:
    """A structured frame. Raises FrameError when it would be too large."""
    return raw(tag, b"".join([len(field).to_bytes(_LENGTH, "big") + field for field in fields]))


def raw(tag: bytes, body: bytes) -> bytes:
    """A frame around any bytes. Raises FrameError when they are too many."""
    if len(body) > MAX_BODY:
        raise FrameError(f"a frame of {len(body)} bytes is too large")
    return len(body).to_bytes(_LENGTH, "big") + tag + body


def read_frame(read: Callable[[int], bytes]) -> Frame:
    """The next frame; ``read(n)`` gives exactly n bytes. Raises FrameError."""
    head = read(_LENGTH + 1)
    length, tag = int.from_bytes(head[:_LENGTH], "big"), head[_LENGTH:]
    if length > MAX_BODY or tag not in _TAGS:
        raise FrameError(f"not a frame: tag {tag!r}, {length} bytes")
    return Frame(tag, read(length) if length else b"")


def unpack(body: bytes) -> tuple[bytes, ...]:
    """The fields of a body. Raises FrameError."""
    fields, position = [], 0
    while position < len(body):
        start = position + _LENGTH
        end = start + int.from_bytes(body[position:start], "big")
        if start > len(body) or end > len(body):
            raise FrameError("a field runs past its frame")
        fields.append(body[start:end])
        position = end
    return tuple(fields)


def number(field: bytes) -> int:
    """A field that is a number, not negative. Raises FrameError."""
    if not field.isdigit() or len(field) > _MAX_DIGITS:
        raise FrameError("a number is malformed")
    return int(field)


def decimal(value: int) -> bytes:
    """Inverse of :func:`number`."""
    return b"%d" % value


def text(value: str) -> bytes:
    """A printable text, cut to what a frame may carry."""
    return value.encode("utf-8", "backslashreplace")[:MAX_TEXT]
