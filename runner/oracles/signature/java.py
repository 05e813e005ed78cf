"""Java exceptions in output: ReproMin's rules, and one reading more.

ReproMin wants a letter before ``Exception``, ``Error``, ``Throwable`` or ``Failure``, so it never sees
``java.lang.Exception`` itself. The native reading sees it; what ReproMin's reading finds stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from runner.oracles.contract import JavaSignature
from runner.oracles.signature.lines import (
    MAX_BLOCKS,
    MAX_FRAMES,
    SIGNATURE_FRAMES,
    clean,
    fold,
    from_first,
    lines_of,
)
from runner.oracles.signature.reading import Reading, Searcher, distinct

_SUFFIXES = ("Exception", "Error", "Throwable", "Failure")
_CLUE = re.compile("|".join(_SUFFIXES))
_FRAME = re.compile(r"at\s++(?P<method>[^\s(]++)\s*+\(")
_NAMES = re.compile(r"[\w$.]+")
_NAME_START = re.compile(r"[A-Za-z_$]")


@dataclass(slots=True)
class JavaBlock:
    """One exception: its header line, cleaned, and the frames under it, outermost last."""

    class_name: str
    message: str
    header: str
    caused_by: bool
    suppressed: bool
    frames: list[str] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Whether a signature can be made of it."""
        return bool(self.frames) and not self.suppressed

    @property
    def text(self) -> str:
        """What a pattern is tried on."""
        return "\n".join([self.header, f"{self.class_name}: {self.message}", *self.frames])

    def signature(self) -> JavaSignature:
        """Class, message and the first frames."""
        return JavaSignature(self.class_name, self.message, tuple(self.frames[:SIGNATURE_FRAMES]))


def java_blocks(text: str, reading: Reading) -> list[JavaBlock]:
    """All exceptions of ``text`` in their order, with or without frames."""
    blocks: list[JavaBlock] = []
    for raw in lines_of(from_first(text, _CLUE)):
        line = clean(raw)
        frame = _FRAME.match(line)
        if frame and blocks:
            if len(blocks[-1].frames) < MAX_FRAMES:
                blocks[-1].frames.append(frame["method"].rpartition("/")[2])
            continue
        place = find_class(line, reading)
        if place is None:
            continue
        if len(blocks) == MAX_BLOCKS:
            break
        start, end = place
        before = line[:start]
        blocks.append(JavaBlock(line[start:end], fold(line[end + 1:]), line,
                                "Caused by:" in before, "Suppressed:" in before))
    return blocks


def find_class(line: str, reading: Reading) -> tuple[int, int] | None:
    """Where the first exception class stands that a ``: message`` or the end of the line follows."""
    for run in _NAMES.finditer(line):
        end = run.end()
        if end < len(line) and line[end] != ":":
            continue
        start = _class_start(line, run.start(), end, reading)
        if start is not None:
            return start, end
    return None


def _class_start(line: str, begin: int, end: int, reading: Reading) -> int | None:
    """Where the longest dotted name begins that ends, as an exception's name does, at ``end``."""
    suffix = next((suffix for suffix in _SUFFIXES if line.endswith(suffix, begin, end)), None)
    if suffix is None:
        return None
    segment = max(line.rfind(".", begin, end) + 1, begin)
    named = _NAME_START.search(line, segment, end - len(suffix))
    if named:
        return _extend_left(line, begin, segment, named.start())
    if reading is Reading.REPOMIN or segment != end - len(suffix):
        return None
    start = _extend_left(line, begin, segment, segment)
    return start if start < segment else None


def _extend_left(line: str, begin: int, segment: int, start: int) -> int:
    """While a whole segment is a name, the segment before it belongs to the class too."""
    while start == segment and segment > begin:
        before = segment - 1
        segment = max(line.rfind(".", begin, before) + 1, begin)
        named = _NAME_START.search(line, segment, before)
        if named is None:
            return start
        start = named.start()
    return start


def choose_java(blocks: Sequence[JavaBlock], search: Searcher | None) -> JavaBlock | None:
    """The exception that stands for the failure; with a pattern only if it is unambiguous."""
    if not any(block.usable for block in blocks):
        return None
    if search is None:
        return _root_cause([block for block in blocks if block.usable])
    groups = _groups(blocks)
    hits = _matching_groups(groups, search)
    chosen = (_root_cause(group) for group in hits or groups)
    return distinct([block for block in chosen if block is not None], JavaBlock.signature)


def _root_cause(blocks: Sequence[JavaBlock]) -> JavaBlock | None:
    caused = [block for block in blocks if block.caused_by]
    if caused:
        return caused[-1]
    return blocks[0] if blocks else None


def _groups(blocks: Iterable[JavaBlock]) -> list[list[JavaBlock]]:
    """An exception and its causes each, as far as they have frames."""
    groups: list[list[JavaBlock]] = []
    for block in blocks:
        if block.suppressed:
            continue
        if not block.caused_by or not groups:
            groups.append([])
        if block.frames:
            groups[-1].append(block)
    return groups


def _matching_groups(groups: Sequence[list[JavaBlock]],
                     search: Callable[[Sequence[str]], Sequence[bool]]) -> list[list[JavaBlock]]:
    found = iter(search([block.text for group in groups for block in group]))
    return [group for group in groups if sum(islice(found, len(group)))]
