"""Declared files taken out of a tree after a run: regular files only, by descriptor, under caps."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from runner.errors import printable
from runner.evidence.observation import Artifact
from runner.payload.access import Descent
from runner.payload.globbing import matches
from runner.payload.hashing import open_found
from runner.payload.tree import Found, Kind

MAX_FILES = 1000


class Taken(NamedTuple):
    """The artifacts, sorted by path, and what was left out and why."""

    artifacts: tuple[Artifact, ...]
    notes: tuple[str, ...]


def take(root_fd: int, found: Iterable[Found], patterns: tuple[str, ...], max_bytes: int) -> Taken:
    """Read the files that match a pattern; at most :data:`MAX_FILES`, and ``max_bytes`` in all."""
    globs = [os.fsencode(pattern) for pattern in patterns]
    wanted = [item for item in found
              if item.kind is Kind.FILE and any(matches(glob, item.path) for glob in globs)]
    artifacts: list[Artifact] = []
    notes: list[str] = []
    room = max_bytes
    with Descent(root_fd) as place:
        for item in wanted[:MAX_FILES]:
            if item.size > room:
                notes.append(f"artifact {printable(item.path)} left out: {item.size} bytes are over the cap")
                continue
            data = _read(place, item)
            room -= len(data)
            artifacts.append(Artifact(item.path, data))
    if len(wanted) > MAX_FILES:
        notes.append(f"only the first {MAX_FILES} of {len(wanted)} artifacts were taken")
    return Taken(tuple(artifacts), tuple(notes))


def _read(place: Descent, item: Found) -> bytes:
    fd = open_found(place, item, own=True)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return b""
        return file.read(item.size)
