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

from runner.payload.copy import wipe

HOST_PREFIX = "sandbox-runner-host-"
PARTIAL_PREFIX = ".run_"
PARTIAL_SUFFIX = ".partial"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def hold(path: str | os.PathLike[str]) -> int:
    """Mark a directory as ours for as long as the returned descriptor is open."""
    descriptor = os.open(path, _OPEN)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def sweep_directories(temporary: Path, runs: Path, grace: float) -> tuple[str, ...]:
    """Remove what nobody holds: copies of host runs in ``temporary``, unfinished evidence in ``runs``.

    Only directories of this user, by exact name pattern, untouched for ``grace`` seconds. Returns their paths.
    """
    copies = [str(path) for path in _named(temporary, HOST_PREFIX, "") if _remove_abandoned(path, grace)]
    return (*copies, *sweep_partial(runs, grace))


def sweep_partial(runs: Path, grace: float) -> tuple[str, ...]:
    """Like :func:`sweep_directories`, for unfinished evidence alone."""
    candidates = _named(runs, PARTIAL_PREFIX, PARTIAL_SUFFIX)
    return tuple(str(path) for path in candidates if _remove_abandoned(path, grace))


def _named(folder: Path, prefix: str, suffix: str) -> Iterator[Path]:
    if folder.is_dir():
        yield from (path for path in sorted(folder.iterdir())
                    if path.name.startswith(prefix) and path.name.endswith(suffix))


def _remove_abandoned(path: Path, grace: float) -> bool:
    with suppress(OSError):  # a link, a file, somebody else's, gone, or held: not ours to remove
        descriptor = os.open(path, _OPEN)
        try:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < grace:
                return False
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            wipe(descriptor)
            path.rmdir()
            return True
        finally:
            os.close(descriptor)
    return False
