"""The files of a scenario directory: which there are, and the bytes of one. Nothing outside is ever opened.

Names in messages are relative; the door puts the directory before them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from runner.errors import InputError, ReportError, printable
from runner.sources.reading import open_report

MAX_FILES, MAX_BYTES, MAX_DEPTH = 5000, 128 << 20, 32
MAX_SCRIPT = 8 << 20


def real_directory(directory: str | os.PathLike[str]) -> Path:
    """The directory with all links resolved, ``~`` expanded. Raises InputError if there is none."""
    shown = printable(os.fspath(directory))
    try:
        root = Path(os.path.realpath(os.path.expanduser(os.fspath(directory)), strict=True))
        if root.is_dir():
            return root
        problem = "is no directory"
    except (OSError, ValueError) as error:
        problem = f"cannot be read: {getattr(error, 'strerror', None) or 'no usable name'}"
    raise InputError(f"{shown}: {problem}", hint="name the scenario's directory, which has a manifest.json")


def check_directory(root: Path) -> None:
    """Raises InputError unless all in it are regular files, directories, and links that stay inside."""
    total = 0
    for count, (path, mode, size) in enumerate(_walked(root, root, 0), 1):
        shown = printable(str(path.relative_to(root)))
        total += size
        if count > MAX_FILES or total > MAX_BYTES:
            raise InputError(f".: holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB",
                             hint="leave in the scenario's directory what the scenario needs")
        if stat.S_ISLNK(mode) and not Path(os.path.realpath(path)).is_relative_to(root):
            raise InputError(f"{shown}: is a symbolic link that leads out of the scenario's directory",
                             hint="put the file itself there")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            raise InputError(f"{shown}: is neither a file nor a directory", hint="take it out of the scenario")


def _walked(root: Path, folder: Path, depth: int) -> Iterator[tuple[Path, int, int]]:
    shown = printable(str(folder.relative_to(root)))
    if depth > MAX_DEPTH:
        raise InputError(f"{shown[-200:]}: directories are nested deeper than {MAX_DEPTH}", hint="make it flatter")
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                yield Path(entry.path), found.st_mode, found.st_size if stat.S_ISREG(found.st_mode) else 0
                if stat.S_ISDIR(found.st_mode):
                    yield from _walked(root, Path(entry.path), depth + 1)
    except OSError as error:
        raise InputError(f"{shown}: cannot be read: {error.strerror}") from None


def inside(root: Path, name: str) -> str | None:
    """The file's own name in the directory, links resolved; ``None`` if it is not there or not inside."""
    try:
        place = Path(os.path.realpath(root / name))
        return str(place.relative_to(root)) if place.is_relative_to(root) and place.is_file() else None
    except (OSError, ValueError):  # longer than any name, or with a NUL in it
        return None


def is_there(root: Path, name: str) -> bool:
    """Whether the directory has anything by this name, be it a link that leads nowhere."""
    return os.path.lexists(root / name)


def read_inside(root: Path, name: str, limit: int = MAX_BYTES) -> bytes:
    """A regular file of the directory, by its own name. Raises InputError."""
    try:
        with open_report(root / name) as file:
            data = file.read(limit + 1)
    except ReportError as error:
        problem = error.message.removeprefix(f"{printable(str(root / name))}: ")
        raise InputError(f"{printable(name)}: {problem}") from None
    except OSError as error:
        raise InputError(f"{printable(name)}: cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise InputError(f"{printable(name)}: larger than {limit >> 20} MiB")
    return data
