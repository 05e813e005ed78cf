"""What a tree consists of: entries, and one iterative walk that finds them without following links.

Names and paths are bytes from end to end. The walk holds one descriptor per level and reaches every
entry relative to its directory, so a link that appears in the middle is never followed.
Standard library only, and as little of it as possible: the steward image carries this package.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from runner.errors import PayloadChanged, printable
from runner.payload.access import Thaw, open_directory


class Kind(StrEnum):
    """What an entry is; its letter stands in a manifest.

    A sealed payload has only the first three. The others can be found in a volume after a run.
    """

    FILE = "f"
    DIR = "d"
    LINK = "l"
    FIFO = "p"
    SOCKET = "s"
    DEVICE = "b"


_KINDS = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIR, stat.S_IFLNK: Kind.LINK,
          stat.S_IFIFO: Kind.FIFO, stat.S_IFSOCK: Kind.SOCKET}
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.EINVAL})
LINK_MODE = 0o777
"""A link has no mode of its own on Linux; elsewhere it is taken as this, so that fingerprints travel."""


class Entry(NamedTuple):
    """One entry below a root, as a manifest has it.

    ``path`` is relative to the root. ``mode`` is the permission bits with setuid, setgid and sticky.
    ``size`` is bytes of a file's content or of a link's target, else 0. ``digest`` is the SHA-256 of a file;
    ``None`` for every other kind, and for a file that was not read because a cap forbade it.
    """

    path: bytes
    kind: Kind
    mode: int
    mtime_ns: int
    size: int = 0
    digest: bytes | None = None
    target: bytes = b""


class Found(NamedTuple):
    """An entry as the walk saw it, with what tells later whether it is still the same file."""

    path: bytes
    kind: Kind
    mode: int
    mtime_ns: int
    size: int
    target: bytes
    device: int
    inode: int
    links: int

    def entry(self, digest: bytes | None = None) -> Entry:
        """The lasting part."""
        return Entry(self.path, self.kind, self.mode, self.mtime_ns, self.size, digest, self.target)


class SealLimits(NamedTuple):
    """Caps on a payload. Sizes are bytes.

    ``files`` counts entries of every kind, ``bytes`` the logical size of all files, ``depth`` the components
    of a path. ``portable_names`` refuses names that collide on file systems which fold case or normalise.
    """

    files: int
    bytes: int
    depth: int
    name_bytes: int
    path_bytes: int
    portable_names: bool = False


class Caps(NamedTuple):
    """What a walk may find at most. ``text_bytes`` is the sum over all paths and link targets."""

    entries: int
    depth: int
    name_bytes: int
    path_bytes: int
    text_bytes: int = 64 << 20


class Problem(NamedTuple):
    """A rule that an entry breaks. ``path`` is relative to the root; empty for the root itself."""

    rule: str
    path: bytes
    detail: str = ""


class Walk(NamedTuple):
    """What a walk found, sorted by path. ``complete`` is false when a cap ended it early."""

    found: list[Found]
    problems: list[Problem]
    complete: bool


_Level = tuple[int, bytes, list[tuple[bytes, int]]]


class _CapReached(Exception):
    """The walk ends here."""


class _Walker:
    """State of one walk."""

    def __init__(self, caps: Caps, thaw: Thaw | None) -> None:
        self._caps = caps
        self._thaw = thaw
        self._text = 0
        self.found: list[Found] = []
        self.problems: list[Problem] = []

    def run(self, root_fd: int) -> None:
        """Depth first. The stack holds, for each open level, its descriptor, path and directories to go."""
        stack: list[_Level] = [(root_fd, b"", self._list(root_fd, b"", 1))]
        try:
            while stack:
                fd, prefix, pending = stack[-1]
                if not pending:
                    stack.pop()
                    if stack:
                        os.close(fd)
                    continue
                name, mode = pending.pop()
                child = self._open(fd, name, prefix + name, mode)
                if child is not None:
                    below = prefix + name + b"/"
                    stack.append((child, below, []))
                    stack[-1][2].extend(self._list(child, below, len(stack)))
        finally:
            for fd, _, _ in stack[1:]:
                os.close(fd)

    def _open(self, parent_fd: int, name: bytes, path: bytes, mode: int) -> int | None:
        try:
            if self._thaw is not None:
                self._thaw.directory(parent_fd, name, path, mode)
            return open_directory(name, parent_fd)
        except OSError as error:
            self.problems.append(unreadable(path, error))
            return None

    def _list(self, fd: int, prefix: bytes, depth: int) -> list[tuple[bytes, int]]:
        """Record the entries of one directory; returns names and modes of those to descend into."""
        caps = self._caps
        directories: list[tuple[bytes, int]] = []
        for name, status in _statuses(fd, prefix, self.problems):
            path = prefix + name
            if len(self.found) >= caps.entries:
                raise self._stop("too_many_files", path)
            found = _look(fd, name, path, status)
            self._text += len(path) + len(found.target)
            if self._text > caps.text_bytes:
                raise self._stop("too_much_text", path)
            self.found.append(found)
            if self._allowed(name, path, depth) and found.kind is Kind.DIR:
                directories.append((name, found.mode))
        return directories

    def _stop(self, rule: str, path: bytes) -> _CapReached:
        self.problems.append(Problem(rule, path))
        return _CapReached()

    def _allowed(self, name: bytes, path: bytes, depth: int) -> bool:
        caps = self._caps
        for broken, rule in ((depth > caps.depth, "too_deep"), (len(name) > caps.name_bytes, "name_too_long"),
                             (len(path) > caps.path_bytes, "path_too_long")):
            if broken:
                self.problems.append(Problem(rule, path))
                return False
        return True


def walk(root_fd: int, caps: Caps, thaw: Thaw | None = None) -> Walk:
    """Find everything below a directory.

    With a :class:`Thaw`, directories that deny their owner are opened up until it restores them; without
    one they are a problem. Raises PayloadChanged when an entry vanishes or turns into something else.
    """
    walker = _Walker(caps, thaw)
    complete = True
    try:
        walker.run(root_fd)
    except _CapReached:
        complete = False
    walker.found.sort()
    walker.problems.sort(key=lambda problem: problem.path)
    return Walk(walker.found, walker.problems, complete)


def unreadable(path: bytes, error: OSError) -> Problem:
    """The problem of an entry that cannot be opened. Raises PayloadChanged when it has just changed."""
    if error.errno in _GONE:
        raise changed(path, error.strerror) from error
    return Problem("unreadable", path, error.strerror or "")


def changed(path: bytes, why: object) -> PayloadChanged:
    """The error for an entry that is not what it was a moment ago."""
    return PayloadChanged(f"payload entry {printable(path)} changed while it was read ({why})",
                          hint="nothing may write to the payload while it is used")


def _statuses(fd: int, prefix: bytes, problems: list[Problem]) -> Iterator[tuple[bytes, os.stat_result]]:
    with os.scandir(fd) as entries:
        for entry in entries:
            name = os.fsencode(entry.name)
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                problems.append(unreadable(prefix + name, error))
            else:
                yield name, status


def _look(dir_fd: int, name: bytes, path: bytes, status: os.stat_result) -> Found:
    kind = _KINDS.get(stat.S_IFMT(status.st_mode), Kind.DEVICE)
    mode, size, target = stat.S_IMODE(status.st_mode), 0, b""
    if kind is Kind.FILE:
        size = status.st_size
    elif kind is Kind.LINK:
        try:
            target = os.readlink(name, dir_fd=dir_fd)
        except OSError as error:
            raise changed(path, error.strerror) from error
        mode, size = LINK_MODE, len(target)
    return Found(path, kind, mode, status.st_mtime_ns, size, target,
                 status.st_dev, status.st_ino, status.st_nlink)
