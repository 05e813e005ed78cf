"""Folders that mmdebstrap works in, reachable for whoever it is in a user namespace."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def workplace() -> Iterator[Path]:
    """A temporary folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="runner-images-") as folder:
        work = Path(folder)
        # mmdebstrap in a user namespace is someone else and must reach its folder.
        work.chmod(0o755)
        yield work


def room(work: Path, name: str) -> Path:
    """An empty folder in it for one tree."""
    folder = work / name
    folder.mkdir()
    # In a user namespace the chroot's owner is a subordinate uid; sticky, as /tmp is.
    folder.chmod(0o1777)
    return folder
