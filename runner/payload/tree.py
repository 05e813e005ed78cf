"""Entries of a directory tree."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What an entry is; the letter stands in a manifest. A sealed payload has the first three only."""

    FILE = "f"
    DIR = "d"
    LINK = "l"
    FIFO = "p"
    SOCKET = "s"
    DEVICE = "b"


class Entry(NamedTuple):
    """One entry below a root. ``path`` is relative; ``digest`` is a file's SHA-256, ``target`` a link's."""

    path: bytes
    kind: Kind
    mode: int
    mtime_ns: int
    size: int = 0
    digest: bytes | None = None
    target: bytes = b""


class SealLimits(NamedTuple):
    """Caps on a payload: entries of any kind, total bytes of files, levels, bytes of a name and of a path."""

    files: int
    bytes: int
    depth: int
    name_bytes: int
    path_bytes: int
    portable_names: bool = False
