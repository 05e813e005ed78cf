"""Unpacking a bundle that was read before: beside its place, by descriptor, then renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, closing

from runner.bundle.layout import PAYLOAD_DIRECTORY, REPORT, own_file
from runner.bundle.read import Bundle
from runner.errors import SetupError, UsageError, printable
from runner.payload.access import open_directory
from runner.payload.chunks import ExactReader
from runner.payload.copy import unpack, wipe

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = 0o700


def unpack_bundle(bundle: Bundle, target: str | os.PathLike[str]) -> None:
    """Write ``report.json`` and ``payload/`` into a new private directory ``target``, whole or not at all.

    Nothing is written outside of it, and no link is followed. Entries get their modes, also setuid bits: that
    ``target`` has mode 0700 keeps others out. Raises UsageError when ``target`` exists and is not an empty
    directory, PayloadChanged, SetupError.
    """
    place, name = os.path.abspath(os.fspath(target)), printable(os.fspath(target))
    _check_target(place, name)
    folder, base = os.path.split(place)
    temporary = f".{base[:100]}.{secrets.token_hex(8)}.tmp"
    with ExitStack() as stack:
        try:
            folder_fd = os.open(folder, _DIRECTORY)
            stack.callback(os.close, folder_fd)
            os.mkdir(temporary, _PRIVATE, dir_fd=folder_fd)
            stack.callback(_remove, temporary, folder_fd)
            root_fd = open_directory(os.fsencode(temporary), folder_fd)
            stack.callback(os.close, root_fd)
            _fill(bundle, root_fd)
            os.rename(temporary, base, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except OSError as error:
            raise SetupError(f"{name}: cannot be written: {error.strerror}",
                             hint="is there room, and does the file system keep such names?") from None


def _check_target(place: str, name: str) -> None:
    if not os.path.lexists(place):
        return
    if os.path.islink(place) or not os.path.isdir(place) or os.listdir(place):
        raise UsageError(f"{name}: exists and is not an empty directory", hint="name a new directory with -o")


def _fill(bundle: Bundle, root_fd: int) -> None:
    report = own_file(REPORT, len(bundle.head.report))
    with os.fdopen(os.open(report.path, _CREATE, report.mode, dir_fd=root_fd), "wb") as file:
        file.write(bundle.head.report)
        os.fchmod(file.fileno(), report.mode)
    os.mkdir(PAYLOAD_DIRECTORY.path, _PRIVATE, dir_fd=root_fd)
    payload_fd = open_directory(PAYLOAD_DIRECTORY.path, root_fd)
    try:
        with closing(bundle.sealed.stream()) as chunks:
            unpack(ExactReader(chunks), payload_fd, bundle.sealed.limits)
        os.fchmod(payload_fd, PAYLOAD_DIRECTORY.mode)
        os.utime(payload_fd, ns=(PAYLOAD_DIRECTORY.mtime_ns, PAYLOAD_DIRECTORY.mtime_ns))
    finally:
        os.close(payload_fd)


def _remove(temporary: str, folder_fd: int) -> None:
    """What is left when something failed; after the rename there is nothing under this name."""
    try:
        fd = open_directory(os.fsencode(temporary), folder_fd)
    except FileNotFoundError:
        return
    try:
        wipe(fd)
    finally:
        os.close(fd)
    os.rmdir(temporary, dir_fd=folder_fd)
