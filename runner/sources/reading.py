"""Opening a report file that a stranger may have prepared."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from runner.errors import ReportError, printable

MAX_REPORT_BYTES = 8 * 1024 * 1024
"""A report of ReproMin is a few KiB; one this large is refused unread."""

SUPPORTED = ("supported: a native report (runner.report/1) or a ReproMin report.json (schema version 1), also in a"
             " .repro bundle")

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_report(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a report. ``~`` is expanded; a symbolic link as last component is not followed.

    Raises ReportError unless it is a readable regular file of at most :data:`MAX_REPORT_BYTES`.
    """
    name = printable(os.fspath(path))
    with open_report(path) as file:
        try:
            data = file.read(MAX_REPORT_BYTES + 1) if os.fstat(file.fileno()).st_size <= MAX_REPORT_BYTES else None
        except OSError as error:
            raise _unreadable(name, error) from None
    if data is None or len(data) > MAX_REPORT_BYTES:
        raise ReportError(f"{name}: larger than {MAX_REPORT_BYTES >> 20} MiB, which no report is")
    return data


def open_report(path: str | os.PathLike[str]) -> BinaryIO:
    """A stranger's file, open for reading. ``~`` is expanded; a symbolic link as last component is not followed.

    Raises ReportError unless it is a readable regular file.
    """
    name = printable(os.fspath(path))
    try:
        expanded = os.path.expanduser(os.fspath(path))
        # Looked at first, because opening some devices has side effects, and again once it is open.
        _check_kind(name, os.lstat(expanded).st_mode)
        descriptor = os.open(expanded, _FLAGS)
    except ValueError:
        raise ReportError(f"{name}: not a usable file name") from None
    except OSError as error:
        raise _unreadable(name, error) from None
    try:
        _check_kind(name, os.fstat(descriptor).st_mode)
    except ReportError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def _check_kind(name: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISLNK(mode):
        raise ReportError(f"{name}: is a symbolic link, expected the report file itself")
    if stat.S_ISDIR(mode):
        raise ReportError(f"{name}: is a directory, expected a report file", hint=SUPPORTED)
    kind = {stat.S_IFIFO: "a fifo", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(mode), "a device")
    raise ReportError(f"{name}: is {kind}, expected a regular file")


def _unreadable(name: str, error: OSError) -> ReportError:
    if error.errno == errno.ELOOP:
        return ReportError(f"{name}: is or contains a symbolic link that cannot be followed")
    return ReportError(f"{name}: cannot be read: {error.strerror or type(error).__name__}")
