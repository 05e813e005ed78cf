"""Parts of a line that change from run to run: addresses, times, temporary paths, numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from runner.oracles.match import escape

_KINDS = {
    "address": (r"0x[0-9A-Fa-f]++", r"0x[0-9A-Fa-f]+"),
    "uuid": (r"\b[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\b", r"[0-9A-Fa-f-]+"),
    "temporary": (r"(?<![\w./-])/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s'\"`:,;)\]>]++",
                  r"/[^\s'\"`:,;)\]>]+"),
    "date": (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?",
             r"\d[0-9T:.,Z+ -]*"),
    "clock": (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?", r"\d+:\d+:\d+(?:[.,]\d+)?"),
    "duration": (r"\b\d+(?:\.\d+)?(?: ?(?:ns|us|µs|ms|s|sec|secs|second|seconds|min|minutes)\b)",
                 r"\d+(?:\.\d+)? ?\w+"),
    "digest": (r"\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}\b", r"[0-9a-f]+"),
    "number": (r"\d+", r"\d+"),
}
"""Name of a kind → how it is recognised, and the pattern that stands for it. The first that fits wins."""

_PART = re.compile("|".join(f"(?P<{name}>{pattern})" for name, (pattern, _) in _KINDS.items()))


class Part(NamedTuple):
    """A stretch of a line. ``kind`` is empty for text that stays."""

    kind: str
    text: str


def parts_of(line: str) -> tuple[Part, ...]:
    """``line`` in parts, in order and without a gap."""
    parts: list[Part] = []
    end = 0
    for found in _PART.finditer(line):
        if found.start() > end:
            parts.append(Part("", line[end:found.start()]))
        parts.append(Part(found.lastgroup or "", found.group()))
        end = found.end()
    if end < len(line):
        parts.append(Part("", line[end:]))
    return tuple(parts)


def skeleton(line: str) -> str:
    """``line`` with the name of its kind for each volatile part: equal for lines that differ harmlessly."""
    return "".join(f"\0{part.kind}\0" if part.kind else part.text for part in parts_of(line))


def pattern_for(lines: Sequence[str]) -> str:
    """A pattern for lines of one skeleton. A plain number that is the same in all of them stays as it is."""
    columns = zip(*map(parts_of, lines), strict=True)
    return "".join(_part_pattern(column) for column in columns)


def _part_pattern(column: Sequence[Part]) -> str:
    first = column[0]
    stays = not first.kind or (first.kind == "number" and len(set(column)) == 1)
    return escape(first.text) if stays else _KINDS[first.kind][1]
