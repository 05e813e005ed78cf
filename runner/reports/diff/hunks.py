"""Where two outputs differ, found in bounded work: both were written by whoever wanted to make this slow.

What is equal is skipped by comparing blocks of bytes. At each difference a window of lines is aligned, and nothing
beyond it: so the work is that of reading both once, and of at most MOST_HUNKS windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from runner.errors import printable

WINDOW_LINES = 128
LINE_BYTES = 400
MOST_HUNKS = 8
CONTEXT = 2
_BLOCK = 1 << 16
_CUT = " …"
"""After what does not end with a newline: the last line, or a piece of a long one."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a unified diff: `` ``, ``-`` or ``+`` and printable text. Line numbers count from 1."""

    a_line: int
    b_line: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hunks:
    """The first differences. ``complete`` is false when there are more, or what follows could not be aligned."""

    hunks: tuple[Hunk, ...]
    complete: bool


class _Op(NamedTuple):
    """Lines i1 to i2 of ours stand where lines j1 to j2 of theirs do."""

    equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


@dataclass
class _Place:
    """A byte offset and the number of the line that it is in."""

    at: int = 0
    line: int = 1

    def move(self, data: bytes, to: int) -> None:
        self.line += data.count(b"\n", self.at, to)
        self.at = to


def find_hunks(a: bytes, b: bytes) -> Hunks:
    """The first differences of two outputs, each with a little of what is around it."""
    here, there = _Place(), _Place()
    found: list[Hunk] = []
    while len(found) < MOST_HUNKS:
        equal = _common_prefix(a, here.at, b, there.at)
        if here.at + equal == len(a) and there.at + equal == len(b):
            return Hunks(tuple(found), complete=True)
        start = _line_start(a, here.at, here.at + equal) - here.at
        here.move(a, here.at + start)
        there.move(b, there.at + start)
        ours, theirs = _window(a, here.at), _window(b, there.at)
        ended = here.at + _size(ours) == len(a) and there.at + _size(theirs) == len(b)
        ops, aligned = _align(ours, theirs, ended=ended)
        found.append(Hunk(here.line + _ends(ours[:ops[0].i1]), there.line + _ends(theirs[:ops[0].j1]),
                          tuple(_lines(ops, ours, theirs))))
        if not aligned:
            return Hunks(tuple(found), complete=False)
        here.move(a, here.at + _size(ours[:ops[-1].i2]))
        there.move(b, there.at + _size(theirs[:ops[-1].j2]))
    return Hunks(tuple(found), complete=a[here.at:] == b[there.at:])


def _common_prefix(a: bytes, at: int, b: bytes, other: int) -> int:
    """How many bytes are equal from both places on."""
    limit = min(len(a) - at, len(b) - other)
    equal = 0
    while equal < limit and a[at + equal:at + equal + _BLOCK] == b[other + equal:other + equal + _BLOCK]:
        equal += _BLOCK
    if equal >= limit:
        return limit
    low, high = equal, min(equal + _BLOCK, limit)
    while low < high:  # the first byte that differs is in this block, or the shorter one ends in it
        middle = (low + high + 1) // 2
        if a[at + equal:at + middle] == b[other + equal:other + middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _line_start(data: bytes, floor: int, at: int) -> int:
    """The start of the line that ``at`` is in, a few lines of context earlier; of a very long line, a piece."""
    start = at
    for _ in range(CONTEXT + 1):
        lowest = max(floor, start - LINE_BYTES)
        start = data.rfind(b"\n", lowest, max(start - 1, lowest)) + 1 or lowest
        if start <= floor:
            return floor
    return start


def _window(data: bytes, at: int) -> list[bytes]:
    """The next lines with their ends; a line that is too long counts as several."""
    lines: list[bytes] = []
    while at < len(data) and len(lines) < WINDOW_LINES:
        end = data.find(b"\n", at, at + LINE_BYTES) + 1 or min(at + LINE_BYTES, len(data))
        lines.append(data[at:end])
        at = end
    return lines


def _align(ours: list[bytes], theirs: list[bytes], *, ended: bool) -> tuple[list[_Op], bool]:
    """The first hunk's operations, and whether what follows it can be aligned.

    Unless the windows reach the end of both outputs, a change at their end may be none: it is left for the next
    window. Where a window holds nothing but one change, the outputs are no longer comparable.
    """
    taken: list[_Op] = []
    changed = False
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            changed = True
            taken.append(_Op(False, i1, i2, j1, j2))
        elif not changed:
            skipped = max(i2 - i1 - CONTEXT, 0)
            taken.append(_Op(True, i1 + skipped, i2, j1 + skipped, j2))
        elif i2 - i1 > 2 * CONTEXT:
            return [*taken, _Op(True, i1, i1 + CONTEXT, j1, j1 + CONTEXT)], True
        else:
            taken.append(_Op(True, i1, i2, j1, j2))
    if ended or taken[-1].equal:
        return taken, True
    if any(not op.equal for op in taken[:-1]):
        return taken[:-1], True
    return taken, False


def _lines(ops: list[_Op], ours: list[bytes], theirs: list[bytes]) -> Iterator[str]:
    for op in ops:
        if op.equal:
            yield from (f" {_shown(line)}" for line in ours[op.i1:op.i2])
        else:
            yield from (f"-{_shown(line)}" for line in ours[op.i1:op.i2])
            yield from (f"+{_shown(line)}" for line in theirs[op.j1:op.j2])


def _size(lines: list[bytes]) -> int:
    return sum(map(len, lines))


def _ends(lines: list[bytes]) -> int:
    return sum(line.endswith(b"\n") for line in lines)


def _shown(line: bytes) -> str:
    return printable(line.removesuffix(b"\n")) + ("" if line.endswith(b"\n") else _CUT)
