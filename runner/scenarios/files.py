"""The files of a scenario directory: which there are, and the bytes of one. Nothing outside is ever opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from runner.errors import InputError, printable
from runner.sources.reading import open_report

MAX_FILES, MAX_BYTES, MAX_DEPTH = 5000, 128 << 20, 32
MAX_SCRIPT = 8 << 20


def check_directory(directory: Path) -> None:
    """Raises InputError unless it is a directory of regular files, directories, and links that stay inside."""
    root = Path(os.path.realpath(directory))
    if not root.is_dir():
        raise InputError(f"{printable(str(directory))}: no such directory",
                         hint="name the scenario's directory, which has a manifest.json")
    total = 0
    for count, (path, mode, size) in enumerate(_walked(root, 0), 1):
        shown = printable(str(path.relative_to(root)))
        total += size
        if count > MAX_FILES or total > MAX_BYTES:
            raise InputError(f"{printable(str(directory))}: holds more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB",
                             hint="leave in the scenario's directory what the scenario needs")
        if stat.S_ISLNK(mode) and not _stays(path, root):
            raise InputError(f"{shown}: is a symbolic link that leads out of the scenario's directory",
                             hint="put the file itself there")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
            raise InputError(f"{shown}: is neither a file nor a directory", hint="take it out of the scenario")


def _walked(folder: Path, depth: int) -> Iterator[tuple[Path, int, int]]:
    if depth > MAX_DEPTH:
        raise InputError(f"{printable(folder.name)}: directories are nested deeper than {MAX_DEPTH}")
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                yield Path(entry.path), found.st_mode, found.st_size if stat.S_ISREG(found.st_mode) else 0
                if stat.S_ISDIR(found.st_mode):
                    yield from _walked(Path(entry.path), depth + 1)
    except OSError as error:
        raise InputError(f"{printable(str(folder))}: cannot be read: {error.strerror}") from None


def _stays(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(root)


def inside(directory: Path, name: str) -> str | None:
    """The file's own name in the directory, links resolved; ``None`` if it is not there or not inside."""
    root = Path(os.path.realpath(directory))
    place = Path(os.path.realpath(root / name))
    return str(place.relative_to(root)) if place.is_relative_to(root) and place.is_file() else None


def read_inside(directory: Path, name: str, limit: int = MAX_BYTES) -> bytes:
    """A regular file of the directory. Raises InputError."""
    with open_report(Path(os.path.realpath(directory)) / name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{printable(name)}: larger than {limit >> 20} MiB")
    return data
