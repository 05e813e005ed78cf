"""Creating a tree entry by entry below a directory of ours: by descriptor, anew, never through a link."""

from __future__ import annotations

import os
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from runner.payload.access import Descent, open_directory
from runner.payload.tree import Entry, Found, Kind

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE_DIR, _PRIVATE_FILE = 0o700, 0o600


class TreeWriter:
    """Entries in order, parents before children. Directories stay private to us until :meth:`finish`.

    Methods raise OSError: for an entry that is there already, and for one whose directory is none of ours.
    """

    def __init__(self, root_fd: int) -> None:
        self._root_fd = root_fd
        self._place = Descent(root_fd)
        self._directories: list[Entry] = []

    def __enter__(self) -> Self:
        self._place.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._place.__exit__(kind, error, trace)

    def add(self, entry: Entry) -> None:
        """A directory or a link."""
        dir_fd, name = self._place.at(entry.path)
        if entry.kind is Kind.DIR:
            make_directory(dir_fd, name)
            self._directories.append(entry)
        else:
            make_link(dir_fd, name, entry)

    def file(self, entry: Entry, content: Iterable[bytes]) -> None:
        """A file and what is in it."""
        dir_fd, name = self._place.at(entry.path)
        fd = create_file(dir_fd, name)
        try:
            for data in content:
                write_all(fd, memoryview(data))
            finish_file(fd, entry)
        finally:
            os.close(fd)

    def finish(self) -> None:
        """Give the directories their modes and times."""
        finish_directories(self._root_fd, self._directories)


def create_file(dir_fd: int, name: bytes) -> int:
    """A new file of ours, private until it is finished."""
    return os.open(name, _CREATE, _PRIVATE_FILE, dir_fd=dir_fd)


def write_all(fd: int, data: memoryview) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(fd, data):]


def make_link(dir_fd: int, name: bytes, entry: Entry | Found) -> None:
    """A symbolic link with its own time."""
    os.symlink(entry.target, name, dir_fd=dir_fd)
    os.utime(name, ns=(entry.mtime_ns, entry.mtime_ns), dir_fd=dir_fd, follow_symlinks=False)


def make_directory(dir_fd: int, name: bytes) -> None:
    """A directory of ours, private until it is finished."""
    os.mkdir(name, _PRIVATE_DIR, dir_fd=dir_fd)


def finish_file(fd: int, entry: Entry | Found) -> None:
    """Mode and time."""
    os.fchmod(fd, entry.mode)
    os.utime(fd, ns=(entry.mtime_ns, entry.mtime_ns))


def finish_directories(root_fd: int, directories: Iterable[Entry]) -> None:
    """Times and modes from the deepest up: what is below is done before a directory is closed to us."""
    with Descent(root_fd) as place:
        for entry in sorted(directories, reverse=True):
            dir_fd, name = place.at(entry.path)
            fd = open_directory(name, dir_fd)
            try:
                finish_file(fd, entry)
            finally:
                os.close(fd)
