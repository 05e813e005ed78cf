"""Private directories on this machine: whose they are, and removing those of controllers that died.

A living controller holds a lock on each directory it made; the kernel drops the lock when it dies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from runner.errors import UsageError, printable
from runner.payload.copy import wipe

HOST_PREFIX = "sandbox-runner-host-"
PARTIAL_PREFIX = ".run_"
PARTIAL_SUFFIX = ".partial"
JUDGED = b'"kind":"run.judged"'
"""In a line of an event log: a run is confirmed. Quotes within texts are escaped, so no text can say this."""

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def partial_of(path: Path, run_id: str) -> Path:
    """Where the evidence of a replay is gathered before it gets its place."""
    return path.parent / f".{run_id}{PARTIAL_SUFFIX}"


def hold(path: str | os.PathLike[str]) -> int:
    """Mark a directory as ours for as long as the returned descriptor is open."""
    descriptor = os.open(path, _OPEN)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def sweep_directories(temporary: Path, runs: Path, grace: float) -> tuple[str, ...]:
    """Remove what nobody holds: copies of host runs in ``temporary``, unfinished evidence in ``runs``.

    Only directories of this user, by exact name pattern, untouched for ``grace`` seconds. Returns their paths.
    Raises UsageError.
    """
    copies = [str(path) for path in _named(temporary, HOST_PREFIX, "") if _remove_abandoned(path, grace)]
    return (*copies, *sweep_partial(runs, grace))


def sweep_partial(runs: Path, grace: float) -> tuple[str, ...]:
    """Like :func:`sweep_directories`, for unfinished evidence alone. What holds a confirmed run stays."""
    candidates = _named(runs, PARTIAL_PREFIX, PARTIAL_SUFFIX)
    return tuple(str(path) for path in candidates if remove_partial(path, grace))


def remove_partial(path: Path, grace: float, *, spare_judged: bool = True) -> bool:
    """Remove one directory of unfinished evidence that nobody holds, unless it has a confirmed run to spare."""
    return _remove_abandoned(path, grace, spare_judged=spare_judged)


def wipe_directory(path: Path) -> None:
    """Remove a directory of ours and all below it; no link is followed. One that is not there is fine.

    Raises OSError.
    """
    with suppress(FileNotFoundError):
        descriptor = os.open(path, _OPEN)
        try:
            wipe(descriptor)
        finally:
            os.close(descriptor)
        path.rmdir()


def _named(folder: Path, prefix: str, suffix: str) -> Iterator[Path]:
    try:
        found = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        shown = printable(str(folder))
        raise UsageError(f"{shown}: cannot be searched for what was left: {error.strerror}") from None
    yield from (path for path in found if path.name.startswith(prefix) and path.name.endswith(suffix))


def _remove_abandoned(path: Path, grace: float, *, spare_judged: bool = False) -> bool:
    with suppress(OSError):  # a link, a file, somebody else's, gone, or held: not ours to remove
        descriptor = os.open(path, _OPEN)
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < grace:
                return False
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if spare_judged and _has_confirmed_run(descriptor):
                return False
            wipe(descriptor)
            path.rmdir()
            return True
        finally:
            os.close(descriptor)
    return False


def _has_confirmed_run(directory: int) -> bool:
    try:
        log = os.open("events.jsonl", _READ, dir_fd=directory)
    except FileNotFoundError:
        return False
    with os.fdopen(log, "rb") as lines:
        return any(JUDGED in line for line in lines)
