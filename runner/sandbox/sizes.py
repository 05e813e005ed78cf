"""Byte sizes as people write them: ``512MiB``, ``64KiB``, or a plain number of bytes."""

from __future__ import annotations

import re

_UNITS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1))
_FACTORS = dict(_UNITS)
_SIZE = re.compile(r"([0-9]{1,16})(TiB|GiB|MiB|KiB|B)?")
MAX_SIZE = 1 << 50


def parse_size(value: object) -> int:
    """Bytes. Raises ValueError for anything but a whole, non-negative size up to 1024 TiB."""
    size = _read(value)
    if size is None:
        raise ValueError("must be a size such as 512MiB, 64KiB or a number of bytes")
    if not 0 <= size <= MAX_SIZE:
        raise ValueError("must be a size between 0 and 1024TiB")
    return size


def _read(value: object) -> int | None:
    if isinstance(value, str):
        found = _SIZE.fullmatch(value)
        return int(found[1]) * _FACTORS[found[2] or "B"] if found else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def format_size(size: int) -> str:
    """The shortest exact text that :func:`parse_size` reads back: the largest unit that divides."""
    if size == 0:
        return "0B"
    return next(f"{size // factor}{unit}" for unit, factor in _UNITS if size % factor == 0)
