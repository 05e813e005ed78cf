"""Opening entries beneath a directory descriptor: never through a link, never waiting, times untouched."""

from __future__ import annotations

import os
import stat
from types import TracebackType
from typing import Self

_COMMON = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_ATIME = getattr(os, "O_NOATIME", 0)
_PATH = getattr(os, "O_PATH", 0)
_SEARCHABLE = stat.S_IRUSR | stat.S_IXUSR


def open_directory(name: bytes, dir_fd: int | None = None) -> int:
    """A descriptor of a directory. Raises OSError; ELOOP or ENOTDIR when it is a link or something else."""
    return _open_quietly(name, os.O_DIRECTORY, dir_fd)


def open_file(name: bytes, dir_fd: int) -> int:
    """A descriptor for reading. The caller proves by fstat that it is the regular file it looked for."""
    return _open_quietly(name, 0, dir_fd)


def open_own_file(name: bytes, dir_fd: int, mode: int) -> int:
    """Like :func:`open_file` for a file of ours: a mode that denies its owner is lifted for a moment."""
    if mode & stat.S_IRUSR:
        return open_file(name, dir_fd)
    change_mode(name, dir_fd, mode | stat.S_IRUSR)
    try:
        return open_file(name, dir_fd)
    finally:
        change_mode(name, dir_fd, mode)


def change_mode(name: bytes, dir_fd: int, mode: int) -> None:
    """chmod that never follows a link. Linux has no such call; /proc's view of an O_PATH descriptor does."""
    fd = os.open(name, _PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        os.chmod(f"/proc/self/fd/{fd}", mode)
    finally:
        os.close(fd)


def _open_quietly(name: bytes, extra: int, dir_fd: int | None) -> int:
    """Only an owner may ask not to touch the access time; others' files are opened without that wish."""
    try:
        return os.open(name, _COMMON | _NO_ATIME | extra, dir_fd=dir_fd)
    except PermissionError:
        return os.open(name, _COMMON | extra, dir_fd=dir_fd)


class Descent:
    """A position in a tree, held as one descriptor per level and moved one no-follow step at a time."""

    def __init__(self, root_fd: int) -> None:
        self._path: bytes | None = b""
        self._names: list[bytes] = []
        self._fds = [root_fd]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._rise(0)

    def at(self, path: bytes) -> tuple[int, bytes]:
        """Descriptor of the directory that holds ``path``, and its last name. Raises OSError."""
        parent, _, name = path.rpartition(b"/")
        if parent != self._path:
            self._path = None  # unknown while we move: a step may fail
            self._move(parent.split(b"/") if parent else [])
            self._path = parent
        return self._fds[-1], name

    def _move(self, names: list[bytes]) -> None:
        common = 0
        for ours, theirs in zip(self._names, names, strict=False):
            if ours != theirs:
                break
            common += 1
        self._rise(common)
        for name in names[common:]:
            self._fds.append(open_directory(name, self._fds[-1]))
            self._names.append(name)

    def _rise(self, level: int) -> None:
        while len(self._names) > level:
            self._names.pop()
            os.close(self._fds.pop())


class Thaw:
    """Directories of ours that deny their owner: opened up while we look, put back afterwards."""

    def __init__(self) -> None:
        self._frozen: list[tuple[bytes, int]] = []

    def directory(self, parent_fd: int, name: bytes, path: bytes, mode: int) -> None:
        """Make a directory listable and searchable if its mode says otherwise. Raises PermissionError."""
        if mode & _SEARCHABLE != _SEARCHABLE:
            change_mode(name, parent_fd, mode | _SEARCHABLE)
            self._frozen.append((path, mode))

    def restore(self, root_fd: int) -> None:
        """Put every mode back, the deepest first."""
        self._frozen.sort(reverse=True)
        with Descent(root_fd) as place:
            for path, mode in self._frozen:
                dir_fd, name = place.at(path)
                change_mode(name, dir_fd, mode)
        self._frozen.clear()
