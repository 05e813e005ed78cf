"""What the kernel says about a mount: the proof that a cap or a flag was not only asked for."""

from __future__ import annotations

import os
from typing import NamedTuple

_TABLE = "/proc/self/mountinfo"


class Mount(NamedTuple):
    """File system type, and options of the mount and of the superblock."""

    fstype: str
    options: tuple[str, ...]


def mount_of(path: str, table: str = _TABLE) -> Mount:
    """The mount that holds ``path``: the last one made over the longest prefix. Raises OSError.

    Source of the format: proc(5), ``/proc/pid/mountinfo``.
    """
    with open(table, encoding="utf-8", errors="surrogateescape") as file:
        return find_mount(file.read(), os.path.abspath(path))


def find_mount(table: str, path: str) -> Mount:
    """Like :func:`mount_of`, from the text of a mount table and an absolute path."""
    best, found = "", Mount("", ())
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        fields, source = left.split(" "), right.split(" ")
        if len(fields) < 6 or len(source) < 3:
            continue
        point = _unescape(fields[4])
        inside = point in ("/", path) or path.startswith(point + "/")
        if inside and len(point) >= len(best):
            options = dict.fromkeys(f"{fields[5]},{source[2]}".split(","))
            best, found = point, Mount(source[0], tuple(options))
    return found


def _unescape(point: str) -> str:
    """Space, tab, newline and backslash are written as three octal digits."""
    for code in (" ", "\t", "\n", "\\"):
        point = point.replace(f"\\{ord(code):03o}", code)
    return point
