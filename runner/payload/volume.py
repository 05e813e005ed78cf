"""Looking at a tree that untrusted code may have left: bounded in entries, depth, text and bytes, never surprised.

For the steward and the host backend, which own the files; nothing else may touch the tree meanwhile. A cap
that is hit ends in a note, not in an error. Special files are listed by kind and never opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from runner.errors import printable
from runner.payload.access import Descent, Thaw
from runner.payload.fingerprint import Change, Manifest, diff
from runner.payload.globbing import matches
from runner.payload.hashing import BUFFER, open_found, prove_same, read_files
from runner.payload.tree import Caps, Found, Kind, Problem, walk

WORKED_TREE = Caps(entries=100_000, depth=256, name_bytes=255, path_bytes=8192, text_bytes=24 << 20)
"""Caps on a tree after a run; with them, what is held in memory stays below 100 MiB."""
MAX_READ = 16 << 30
"""Bytes of files that are read at most, whatever size they claim to have."""

_SHOWN_PROBLEMS = 5
_SHOWN_PATH = 200


class Look(NamedTuple):
    """A tree as it was found. ``note`` names each cap that was hit; then the manifest does not hold everything.

    ``complete`` is false when the walk ended early: of a path that is missing nothing can be said then.
    """

    manifest: Manifest
    note: str
    complete: bool


def look(root_fd: int, caps: Caps, max_bytes: int) -> Look:
    """Walk and read a tree of ours. Modes that deny us are lifted and put back. Raises OSError."""
    thaw = Thaw()
    try:
        found, problems, complete = walk(root_fd, caps, thaw)
        entries, unread = read_files(root_fd, found, max_bytes=min(max_bytes, MAX_READ), own=True)
    finally:
        thaw.restore(root_fd)
    return Look(Manifest(entries), _note(problems + unread), complete)


def changes_since(before: Manifest, after: Look) -> tuple[Change, ...]:
    """What happened. Where the walk ended early, removals are left out: what is missing may only be unseen."""
    changes = diff(before, after.manifest)
    if after.complete:
        return changes
    return tuple(change for change in changes if change.kind != "removed")


class Piece(NamedTuple):
    """Part of a collected file; ``data`` arrives in order, the first piece of a file may be empty."""

    found: Found
    data: bytes
    first: bool


class Collector:
    """Takes declared regular files out of a tree of ours, within caps; ``note`` says what was skipped."""

    def __init__(self, patterns: tuple[bytes, ...], max_files: int, max_bytes: int) -> None:
        self._patterns = patterns
        self._files_left = max_files
        self._bytes_left = max_bytes
        self._problems: list[Problem] = []

    @property
    def note(self) -> str:
        """What was skipped and why; empty when nothing was."""
        return _note(self._problems)

    def pieces(self, root_fd: int, caps: Caps) -> Iterator[Piece]:
        """The matching files in order of path. Raises OSError, PayloadChanged."""
        thaw = Thaw()
        try:
            found, self._problems, _ = walk(root_fd, caps, thaw)
            with Descent(root_fd) as place:
                for item in found:
                    if self._wanted(item) and self._admit(item):
                        yield from _read(place, item)
        finally:
            thaw.restore(root_fd)

    def _wanted(self, item: Found) -> bool:
        return item.kind is not Kind.DIR and any(matches(pattern, item.path) for pattern in self._patterns)

    def _admit(self, item: Found) -> bool:
        for broken, rule in ((item.kind is not Kind.FILE, "not_a_file"), (not self._files_left, "too_many_files"),
                             (item.size > self._bytes_left, "too_large")):
            if broken:
                self._problems.append(Problem(rule, item.path))
                return False
        self._files_left -= 1
        self._bytes_left -= item.size
        return True


def _read(place: Descent, item: Found) -> Iterator[Piece]:
    fd = open_found(place, item, own=True)
    try:
        yield Piece(item, b"", first=True)
        total = 0
        while total < item.size and (data := os.read(fd, min(BUFFER, item.size - total))):
            total += len(data)
            yield Piece(item, data, first=False)
        prove_same(fd, item, total)
    finally:
        os.close(fd)


def _note(problems: list[Problem]) -> str:
    shown = [f"{problem.rule} at {printable(problem.path[:_SHOWN_PATH])}" + (f" ({problem.detail})" if problem.detail
                                                                             else "")
             for problem in problems[:_SHOWN_PROBLEMS]]
    if len(problems) > _SHOWN_PROBLEMS:
        shown.append(f"and {len(problems) - _SHOWN_PROBLEMS} more")
    return "; ".join(shown)
