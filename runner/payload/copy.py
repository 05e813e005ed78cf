"""Writing, copying and removing whole trees by directory descriptor, without recursion or path strings.

Nothing here follows a link, and nothing is overwritten: unpacking and cloning create every entry anew.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from runner.errors import PayloadRefused, printable
from runner.payload.access import Descent, Thaw, change_mode, open_directory
from runner.payload.hashing import BUFFER, open_found
from runner.payload.sharing import share
from runner.payload.tar import padding, read_header
from runner.payload.tree import Caps, Entry, Found, Kind, SealLimits, changed, walk
from runner.payload.writer import (
    TreeWriter,
    create_file,
    finish_directories,
    finish_file,
    make_directory,
    make_link,
    write_all,
)

_OWNER_ALL = stat.S_IRWXU
OWN_TREE = Caps(entries=1 << 20, depth=512, name_bytes=255, path_bytes=64 << 10)
"""Caps on walking a tree that we made ourselves from a sealed payload."""


def unpack(read: Callable[[int], bytes], root_fd: int, limits: SealLimits) -> None:
    """Write a canonical tar stream below an empty directory; ``read(n)`` gives exactly n bytes.

    Raises PayloadRefused for a stream that is not canonical, is not in order or breaks a limit, and OSError.
    """
    admission = _Admission(limits)
    with TreeWriter(root_fd) as tree:
        while (entry := read_header(read)) is not None:
            admission.check(entry)
            if entry.kind is Kind.FILE:
                tree.file(entry, _content(read, entry))
            else:
                tree.add(entry)
        tree.finish()


class _Admission:
    """What a stream may still bring."""

    def __init__(self, limits: SealLimits) -> None:
        self._limits = limits
        self._entries = self._bytes = 0
        self._last = b""

    def check(self, entry: Entry) -> None:
        """Raise PayloadRefused, naming the rule that the entry breaks."""
        limits, path = self._limits, entry.path
        names = path.split(b"/")
        self._entries += 1
        if entry.kind is Kind.FILE:
            self._bytes += entry.size
        for broken, rule in ((path <= self._last, "malformed_stream"),
                             (self._entries > limits.files, "too_many_files"),
                             (self._bytes > limits.bytes, "too_large"), (len(names) > limits.depth, "too_deep"),
                             (max(map(len, names)) > limits.name_bytes, "name_too_long"),
                             (len(path) > limits.path_bytes, "path_too_long")):
            if broken:
                raise PayloadRefused(f"payload stream refused at {printable(path)} (rule {rule})",
                                     rule=rule, path=path)
        self._last = path


def _content(read: Callable[[int], bytes], entry: Entry) -> Iterator[bytes]:
    left = entry.size
    while left:
        data = read(min(left, BUFFER))
        left -= len(data)
        yield data
    if read(-entry.size % 512) != padding(entry.size):
        raise PayloadRefused("the payload stream is malformed: padding", rule="malformed_stream", path=entry.path)


def clone(source_fd: int, target_fd: int) -> None:
    """Copy a tree of ours into an empty directory, with modes and times of files, directories and links.

    Raises PayloadChanged when the source changes meanwhile, and OSError.
    """
    thaw = Thaw()
    try:
        found = walk(source_fd, OWN_TREE, thaw).found
        _make_frame(target_fd, found)
        files = [item for item in found if item.kind is Kind.FILE]

        def work(chunks: Iterator[list[Found]]) -> None:
            view = memoryview(bytearray(BUFFER))
            with Descent(source_fd) as source, Descent(target_fd) as target:
                for chunk in chunks:
                    for item in chunk:
                        _copy_file(source, target, item, view)

        share(files, sum(item.size for item in files), work)
        finish_directories(target_fd, [item.entry() for item in found if item.kind is Kind.DIR])
    finally:
        thaw.restore(source_fd)


def _make_frame(target_fd: int, found: list[Found]) -> None:
    """Directories, still private, and links."""
    with Descent(target_fd) as place:
        for item in found:
            if item.kind is Kind.FILE:
                continue
            dir_fd, name = place.at(item.path)
            if item.kind is Kind.DIR:
                make_directory(dir_fd, name)
            elif item.kind is Kind.LINK:
                make_link(dir_fd, name, item)
            else:
                raise changed(item.path, "neither file, directory nor link")


def _copy_file(source: Descent, target: Descent, item: Found, view: memoryview) -> None:
    source_file = open_found(source, item, own=True)
    try:
        dir_fd, name = target.at(item.path)
        target_file = create_file(dir_fd, name)
        try:
            total = 0
            while total < item.size:
                count = os.readv(source_file, (view,))
                if not count:
                    raise changed(item.path, "it became shorter")
                write_all(target_file, view[:count])
                total += count
            finish_file(target_file, item)
        finally:
            os.close(target_file)
    finally:
        os.close(source_file)


def wipe(dir_fd: int) -> None:
    """Remove everything in a directory of ours, whatever its depth, mode or names. Raises OSError.

    Directories below the first level are moved up to it before they are emptied, so a tree of any depth needs
    three descriptors, no recursion and no path; only names of directories are held in memory.
    """
    first_level = _empty_level(dir_fd)
    prefix = b"w"
    while any(name.startswith(prefix) for name in first_level):
        prefix += b"w"
    waiting, moved = first_level, 0
    while waiting:
        name = waiting.pop()
        change_mode(name, dir_fd, _OWNER_ALL)
        fd = open_directory(name, dir_fd)
        try:
            for child in _empty_level(fd):
                moved += 1
                lifted = b"%b%d" % (prefix, moved)
                change_mode(child, fd, _OWNER_ALL)  # a directory must be writable to get another parent
                os.rename(child, lifted, src_dir_fd=fd, dst_dir_fd=dir_fd)
                waiting.append(lifted)
        finally:
            os.close(fd)
        os.rmdir(name, dir_fd=dir_fd)


def _empty_level(fd: int) -> list[bytes]:
    """Unlink all that is not a directory; returns the names of the directories."""
    directories = []
    with os.scandir(fd) as entries:
        for entry in entries:
            name = os.fsencode(entry.name)
            if entry.is_dir(follow_symlinks=False):
                directories.append(name)
            else:
                os.unlink(name, dir_fd=fd)
    return directories
