"""Unpacking: beside the target, by descriptor, and renamed into its place once the whole bundle is proved."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack

from runner.bundle.layout import PAYLOAD_DIRECTORY, REPORT, own_file
from runner.bundle.read import Bundle, read_bundle
from runner.errors import SetupError, UsageError, printable
from runner.payload.access import open_directory
from runner.payload.copy import wipe
from runner.payload.seal import SealLimits
from runner.payload.writer import TreeWriter, finish_file

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PRIVATE = 0o700


def unpack_bundle(path: str | os.PathLike[str], limits: SealLimits, target: str | os.PathLike[str]) -> Bundle:
    """Write ``report.json`` and ``payload/`` into a new private directory ``target``, whole or not at all.

    Nothing is written outside of it, and no link is followed. Entries get their modes, also set-id bits: that
    ``target`` has mode 0700 keeps others out. Raises BundleRefused, ReportError, UsageError when ``target`` exists
    and is not an empty directory, SetupError.
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
            bundle = _fill(path, limits, root_fd)
            os.rename(temporary, base, src_dir_fd=folder_fd, dst_dir_fd=folder_fd)
        except OSError as error:
            raise SetupError(f"{name}: cannot be written: {error.strerror}",
                             hint="is there room, and does the file system keep such names?") from None
    return bundle


def _check_target(place: str, name: str) -> None:
    if not os.path.lexists(place):
        return
    if os.path.islink(place) or not os.path.isdir(place) or os.listdir(place):
        raise UsageError(f"{name}: exists and is not an empty directory", hint="name a new directory with -o")


def _fill(path: str | os.PathLike[str], limits: SealLimits, root_fd: int) -> Bundle:
    os.mkdir(PAYLOAD_DIRECTORY.path, _PRIVATE, dir_fd=root_fd)
    payload_fd = open_directory(PAYLOAD_DIRECTORY.path, root_fd)
    try:
        with TreeWriter(payload_fd) as tree:
            bundle = read_bundle(path, limits, tree)
            tree.finish()
        finish_file(payload_fd, PAYLOAD_DIRECTORY)
    finally:
        os.close(payload_fd)
    with TreeWriter(root_fd) as tree:
        tree.file(own_file(REPORT, len(bundle.head.report)), [bundle.head.report])
    return bundle


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
