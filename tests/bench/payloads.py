"""The payloads that benchmarks use, made anew and the same each time."""

from __future__ import annotations

import random
from pathlib import Path


def small(folder: Path) -> Path:
    """20 files of 1 KiB."""
    return _fill(folder, files=20, size=1024)


def large(folder: Path) -> Path:
    """10,000 files, 200 MB."""
    return _fill(folder, files=10_000, size=20_000)


def _fill(folder: Path, files: int, size: int) -> Path:
    source = random.Random(7)
    for number in range(files):
        place = folder / f"d{number // 100:03d}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"f{number:05d}.bin").write_bytes(source.randbytes(size))
    return folder
