"""A run directory while it is being filled: beside its place, under a name that nobody takes for a run."""

from __future__ import annotations

import os
import shutil
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from runner.errors import SetupError, UsageError, printable
from runner.evidence.files import sync_folder
from runner.evidence.leftovers import hold, partial_of, sweep_partial

_DIRECTORY_MODE = 0o700
_FILE_MODE = 0o600
_GRACE_SECONDS = 60.0
_SYNCING = 8
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Gathering:
    """The files of one replay. Only its own process writes here, and holds its lock until :meth:`release`."""

    def __init__(self, place: Path, run_id: str) -> None:
        self.place = place
        self.partial = partial_of(place, run_id)
        self._unsynced: set[Path] = set()
        self._held = -1

    def make(self) -> None:
        """Make the directory and lock it. Raises UsageError when the place cannot be ours."""
        name = printable(str(self.place))
        if os.path.lexists(self.place) and not _is_empty_directory(self.place):
            raise UsageError(f"{name}: exists and is not an empty directory", hint="name a new directory with --out")
        try:
            self.place.parent.mkdir(parents=True, exist_ok=True, mode=_DIRECTORY_MODE)
            _check_name(self.place)
            sweep_partial(self.place.parent, _GRACE_SECONDS)
            _make(self.partial)
            self._held = hold(self.partial)
        except OSError as error:
            raise UsageError(f"{name}: cannot be made: {error.strerror}", hint="choose a place with --out") from None

    def has(self, name: str) -> bool:
        """Whether a file is there already."""
        return (self.partial / name).exists()

    def write(self, name: str, data: bytes) -> None:
        """Write a new file; ``name`` is ours, never a name from the payload. Raises SetupError."""
        self._put(name, data, os.O_EXCL)

    def append(self, name: str, data: bytes) -> None:
        """Add to a file. Raises SetupError."""
        self._put(name, data, os.O_APPEND)

    def _put(self, name: str, data: bytes, flags: int) -> None:
        target = self.partial / name
        try:
            if not target.parent.exists():
                _make(target.parent)
            with os.fdopen(os.open(target, _FLAGS | flags, _FILE_MODE), "wb") as file:
                os.fchmod(file.fileno(), _FILE_MODE)  # whatever the umask is
                file.write(data)
        except OSError as error:
            raise self._failed(error) from None
        self._unsynced.add(target)

    def sync(self) -> None:
        """Wait until all that was written is on the disk, names included. Raises SetupError.

        All files at once: the disk then waits once for all of them rather than once for each.
        """
        files = sorted(self._unsynced)
        try:
            with ThreadPoolExecutor(min(len(files), _SYNCING) or 1, thread_name_prefix="sync") as pool:
                deque(pool.map(_sync_file, files), maxlen=0)
            for folder in sorted({path.parent for path in files} | {self.partial}):
                sync_folder(folder)
        except OSError as error:
            raise self._failed(error) from None
        self._unsynced.clear()

    def put_in_place(self) -> None:
        """Give the directory its name. Raises UsageError."""
        try:
            self.partial.replace(self.place)
            sync_folder(self.place.parent)
        except OSError as error:
            raise UsageError(f"{printable(str(self.place))}: cannot be written: {error.strerror}",
                             hint=f"is something else writing there? the evidence is in "
                                  f"{printable(str(self.partial))}") from None

    def remove(self) -> None:
        """Remove everything that was gathered."""
        shutil.rmtree(self.partial, ignore_errors=True)

    def release(self) -> None:
        """Let go of the lock."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1

    def _failed(self, error: OSError) -> SetupError:
        return SetupError(f"the evidence cannot be written to {printable(str(self.place))}: {error.strerror}",
                          hint="make room, or choose another place with --out")


def _make(folder: Path) -> None:
    """A private directory, whatever the umask is."""
    folder.mkdir(mode=_DIRECTORY_MODE)
    folder.chmod(_DIRECTORY_MODE)


def _check_name(place: Path) -> None:
    """That the file system can hold such a name, before anything runs. Raises OSError."""
    with suppress(FileNotFoundError):
        os.lstat(place)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_empty_directory(path: Path) -> bool:
    return not path.is_symlink() and path.is_dir() and not any(path.iterdir())
