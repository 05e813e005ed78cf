"""Digests of many files: each is opened, read once, and looked at again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from runner.payload.access import Descent, open_file, open_own_file
from runner.payload.sharing import share
from runner.payload.tree import Entry, Found, Kind, Problem, changed, unreadable

BUFFER = 256 << 10
"""Bytes read at once: large enough for few calls, small enough to stay in a core's cache."""


class Reading(NamedTuple):
    """Entries with digests, and why some files have none."""

    entries: list[Entry]
    problems: list[Problem]


def read_files(root_fd: int, found: list[Found], *, max_bytes: int, own: bool = False) -> Reading:
    """Turn what a walk found into entries with digests.

    Files are taken in order of path until ``max_bytes`` is used up; a file that does not fit keeps no digest
    and is a ``too_large`` problem. ``own``: the files are ours, so a mode that denies us does not stop us.
    Raises PayloadChanged.
    """
    wanted, problems, total = _within(found, max_bytes)

    def work(chunks: Iterator[list[Found]]) -> dict[bytes, bytes]:
        digests: dict[bytes, bytes] = {}
        view = memoryview(bytearray(BUFFER))
        with Descent(root_fd) as place:
            for chunk in chunks:
                for item in chunk:
                    try:
                        fd = open_found(place, item, own=own)
                    except OSError as error:
                        problems.append(unreadable(item.path, error))
                        continue
                    try:
                        digests[item.path] = _digest(fd, item, view)
                    finally:
                        os.close(fd)
        return digests

    digests: dict[bytes, bytes] = {}
    for part in share(wanted, total, work):
        digests.update(part)
    problems.sort(key=lambda problem: problem.path)
    return Reading([item.entry(digests.get(item.path)) for item in found], problems)


def open_found(place: Descent, item: Found, *, own: bool) -> int:
    """Open a file that a walk found. Raises OSError."""
    dir_fd, name = place.at(item.path)
    return open_own_file(name, dir_fd, item.mode) if own else open_file(name, dir_fd)


def prove_same(fd: int, found: Found, total: int) -> None:
    """Raise PayloadChanged unless ``fd`` is the very file of the walk and ``total`` bytes are all of it."""
    now = os.fstat(fd)
    same = (stat.S_ISREG(now.st_mode) and now.st_ino == found.inode and now.st_dev == found.device
            and now.st_mtime_ns == found.mtime_ns and now.st_size == found.size == total)
    if not same:
        raise changed(found.path, "another size, time or file")


def _digest(fd: int, found: Found, view: memoryview) -> bytes:
    count = total = os.readv(fd, (view,))
    digest = sha256(view[:count])
    while count and total < found.size:
        count = os.readv(fd, (view,))
        total += count
        digest.update(view[:count])
    prove_same(fd, found, total)
    return digest.digest()


def _within(found: list[Found], max_bytes: int) -> tuple[list[Found], list[Problem], int]:
    """The files that fit into the cap, a problem for each that does not, and the bytes to read."""
    wanted: list[Found] = []
    problems: list[Problem] = []
    total = 0
    for item in found:
        if item.kind is not Kind.FILE:
            continue
        if item.size > max_bytes - total:
            problems.append(Problem("too_large", item.path, f"{item.size} bytes"))
        else:
            wanted.append(item)
            total += item.size
    return wanted, problems, total
