"""Python exceptions in output: ReproMin's reading, and the native one that sees more.

The native reading differs in these points. An exception line must stand left of the frames it ends, so an
echoed source line is never taken for one. Its class may be lower-case, local to a function, or in any script.
A syntax error needs no heading. And for pytest's short form, where ``E   Name: message`` comes *after* the
``path.py:N: in function`` lines, that run of lines gives the frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from runner.oracles.contract import PythonSignature
from runner.oracles.signature import python_lines as look
from runner.oracles.signature.lines import (
    MAX_BLOCKS,
    MAX_FRAMES,
    SIGNATURE_FRAMES,
    clean_python,
    from_first,
    lines_of,
)
from runner.oracles.signature.python_place import frame_text
from runner.oracles.signature.reading import Reading, Searcher, distinct

_GROUPS = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
_WITHOUT_HEADING = frozenset({"SyntaxError", "IndentationError", "TabError"})


@dataclass(slots=True)
class PythonBlock:
    """One exception: its header line, cleaned, and its frames, innermost last."""

    class_name: str
    message: str
    header: str
    frames: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What a pattern is tried on."""
        return "\n".join([self.header, f"{self.class_name}: {self.message}", *self.frames])


@dataclass(slots=True)
class _Traceback:
    """One that is still open. ``column`` is where its last frame line begins."""

    frames: deque[str] = field(default_factory=lambda: deque(maxlen=MAX_FRAMES))
    column: int = 0
    heading: bool = True


class _Reader:
    """Reads line by line; ``root`` as for :func:`python_blocks`."""

    def __init__(self, reading: Reading, root: str | None) -> None:
        self.blocks: list[PythonBlock] = []
        self._reading = reading
        self._native = reading is Reading.NATIVE
        self._root = root
        self._open: _Traceback | None = None
        self._pending: PythonBlock | None = None
        self._places: deque[str] = deque(maxlen=MAX_FRAMES)
        self._places_over = self._named = False

    def feed(self, line: str, column: int) -> None:
        """Take in the next line, cleaned."""
        if line in look.HEADINGS:
            self._open, self._pending = _Traceback(), None
        elif not self._in_traceback(line, column) and not self._pytest_error(line):
            self._pytest_place(line)

    def _in_traceback(self, line: str, column: int) -> bool:
        frame = look.frame_line(line)
        if frame and self._open is None and self._native and frame.function is None:
            self._open = _Traceback(heading=False)
        if self._open is None:
            return False
        if frame:
            self._open.frames.append(self._frame(frame))
            self._open.column = column
            return True
        if not self._open.frames or (self._native and column >= self._open.column):
            return False
        header = look.exception_line(line, self._reading)
        if header and (self._open.heading or header.class_name in _WITHOUT_HEADING):
            self.blocks.append(PythonBlock(*header, line, list(self._open.frames)))
            self._open = None
            return True
        if not self._open.heading:
            self._open = None
        return False

    def _pytest_error(self, line: str) -> bool:
        """Native: only the first name of a run of marked lines counts, the others belong to its message."""
        marked = look.is_pytest_error(line)
        if not marked:
            self._named = False
            return False
        self._places_over = True
        header = look.pytest_line(line, self._reading)
        if header and not (self._native and self._named):
            self._named = True
            self._pending = PythonBlock(*header, line, list(self._places) if self._native else [])
            self._places.clear()
            self.blocks.append(self._pending)
        return self._native or header is not None

    def _pytest_place(self, line: str) -> None:
        place = look.pytest_place(line)
        if place is None:
            return
        frame = self._frame(place)
        if place.function is not None:
            self._add_place(frame)
        if self._pending is not None:
            if not self._pending.frames or place.function is None:
                self._pending.frames[:] = [frame]
            self._pending = None

    def _add_place(self, frame: str) -> None:
        """A place with a function stands before its error; the first one after an error starts anew."""
        if self._places_over:
            self._places.clear()
            self._places_over = False
        self._places.append(frame)

    def _frame(self, place: look.Place) -> str:
        return frame_text(place.path, place.function or "<module>", self._root)


def python_blocks(text: str, reading: Reading, root: str | None) -> list[PythonBlock]:
    """All exceptions of ``text`` that have frames, in their order.

    ``root`` is the execution root for the rooted frame rule; ``None`` selects the legacy rule.
    """
    reader = _Reader(reading, root)
    for raw in lines_of(from_first(text, look.CLUE)):
        reader.feed(*clean_python(raw))
        if len(reader.blocks) == MAX_BLOCKS:
            break
    return [block for block in reader.blocks if block.frames]


def choose_python(blocks: Sequence[PythonBlock], search: Searcher | None) -> PythonBlock | None:
    """The exception that stands for the failure; with a pattern only if it is unambiguous."""
    plain = [block for block in blocks if block.class_name not in _GROUPS]
    ordered = plain + [block for block in blocks if block.class_name in _GROUPS]
    if search is None:
        return ordered[0] if ordered else None
    found = search([block.text for block in ordered])
    hits = [block for block, hit in zip(ordered, found, strict=True) if hit]
    return distinct(hits or ordered, lambda block: signature_of(block, rooted=True))


def signature_of(block: PythonBlock, *, rooted: bool) -> PythonSignature:
    """Class, message and the innermost frames, innermost first."""
    innermost = tuple(block.frames[:-SIGNATURE_FRAMES - 1:-1])
    return PythonSignature(block.class_name, block.message, innermost, rooted)
