"""Writing a file so that nobody ever sees half of it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from runner.errors import SetupError, UsageError, printable

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_atomically(path: str | os.PathLike[str], data: bytes, mode: int = 0o600) -> None:
    """Write a whole file as :func:`written_atomically` does."""
    with written_atomically(path, mode) as file:
        file.write(data)


@contextmanager
def written_atomically(path: str | os.PathLike[str], mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file to write beside ``path`` under a temporary name; at the end it is synced and renamed into place.

    An existing regular file is replaced; on any failure it stays as it was and the temporary file is gone.
    ``mode`` holds whatever the umask is. A destination that is a symbolic link is refused rather than
    replaced: neither the link nor what it points to is touched.

    Raises UsageError when the destination cannot be a file of ours, SetupError when writing fails.
    """
    target = os.path.abspath(os.fspath(path))
    name = printable(os.fspath(path))
    folder, base = os.path.split(target)
    check_destination(path)
    temporary = os.path.join(folder, f".{base[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(_create(temporary, name), "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)
        sync_folder(folder)
    except OSError as error:
        raise SetupError(f"{name}: cannot be written: {error.strerror}") from None
    finally:
        # After a rename there is nothing left under this name.
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def check_destination(path: str | os.PathLike[str]) -> None:
    """Whether a file of ours may be put there, before any work is done for it. Raises UsageError."""
    target = os.path.abspath(os.fspath(path))
    name = printable(os.fspath(path))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise UsageError(f"{name}: cannot be written: {printable(folder)} is not a directory")
    try:
        found = os.lstat(target).st_mode
    except FileNotFoundError:
        return
    except ValueError:
        raise UsageError(f"{name}: not a usable file name") from None
    except OSError as error:
        raise UsageError(f"{name}: cannot be written: {error.strerror}") from None
    if stat.S_ISLNK(found):
        raise UsageError(f"{name}: is a symbolic link; refusing to write through or over it")
    if not stat.S_ISREG(found):
        raise UsageError(f"{name}: exists and is not a regular file")


def check_outside(path: str | os.PathLike[str], payload: str | os.PathLike[str], hint: str) -> None:
    """Whether a place is not in a payload, which would be another one with what is written there. Raises UsageError."""
    place, tree = os.path.realpath(path), os.path.realpath(payload)
    if os.path.commonpath((place, tree)) == tree:
        raise UsageError(f"{printable(os.fspath(path))}: lies in the payload, which would be another one then",
                         hint=hint)


def _create(temporary: str, name: str) -> int:
    try:
        return os.open(temporary, _FLAGS, 0o600)
    except OSError as error:
        raise UsageError(f"{name}: cannot be written: {error.strerror}") from None


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the names in a directory last. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
