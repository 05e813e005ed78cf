"""Bytes on a line: canonical percent-escaping of paths and link targets.

Printable ASCII other than ``%`` stands for itself; every other byte (controls, space, ``%``, DEL, 0x80 and
up) is ``%`` and two upper-case hex digits. Each byte string has exactly one escaped form.
"""

from __future__ import annotations

_PLAIN = bytes(code for code in range(0x21, 0x7F) if code != ord("%"))
_TABLE = tuple(bytes((code,)) if code in _PLAIN else b"%%%02X" % code for code in range(256))


def escape(raw: bytes) -> bytes:
    """The escaped form of any bytes."""
    if not raw.translate(None, _PLAIN):
        return raw
    return b"".join([_TABLE[code] for code in raw])


def unescape(text: bytes) -> bytes:
    """Inverse of :func:`escape`. Raises ValueError. Whether ``text`` was canonical is not checked here."""
    first, *rest = text.split(b"%")
    return first + b"".join([bytes.fromhex(part[:2].decode("ascii")) + part[2:] for part in rest])
