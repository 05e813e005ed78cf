"""A contract's pattern: Python ``re`` semantics, found anywhere, no flags but inline ones, bounded in time.

A pattern that is plain text is searched for in this process; any other runs in a child that can be killed
(:mod:`runner.oracles.matching_process`), so neither it nor its compilation can hang or hurt the controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

from runner.oracles.matching_process import DEFAULT_BUDGET, MatchingProcess

_SPECIAL = frozenset(".^$*+?{}[]\\|()")


class Span(NamedTuple):
    """A match, in characters of the searched text."""

    start: int
    end: int


class Matcher:
    """One pattern and the process that runs it. ``None`` or empty: no pattern, found everywhere.

    Use it as a context manager, or close it. Threads may share it. ``budget_seconds`` bounds all its searches
    together, those of matchers made by :meth:`for_pattern` included.
    """

    def __init__(self, pattern: str | None = None, budget_seconds: float = DEFAULT_BUDGET, *,
                 process: MatchingProcess | None = None) -> None:
        self.pattern = pattern or None
        self._process = process or MatchingProcess(budget_seconds)
        self._literal = literal_of(pattern) if pattern else None

    def for_pattern(self, pattern: str | None) -> Matcher:
        """A matcher of another pattern that shares this one's process and budget."""
        return Matcher(pattern, process=self._process)

    def search(self, text: str) -> Span | None:
        """The first match. Raises PatternError when the pattern is invalid or does not finish."""
        return self._spans([text])[0]

    def search_any(self, texts: Sequence[str]) -> list[bool]:
        """Of each text whether the pattern is found in it. Raises PatternError."""
        return [span is not None for span in self._spans(texts)]

    def compile_check(self) -> None:
        """Raise PatternError if this is no regular expression, or compiling it does not finish."""
        if self.pattern is not None and self._literal is None:
            self._process.spans(self.pattern, [])

    def close(self) -> None:
        """End the process. Safe to call more than once."""
        self._process.close()

    def _spans(self, texts: Sequence[str]) -> list[Span | None]:
        literal = "" if self.pattern is None else self._literal
        if literal is not None:
            starts = [text.find(literal) for text in texts]
            return [None if start < 0 else Span(start, start + len(literal)) for start in starts]
        if self.pattern is None or not texts:
            return []
        return [span and Span(*span) for span in self._process.spans(self.pattern, texts)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


def compile_check(pattern: str, budget_seconds: float = DEFAULT_BUDGET) -> None:
    """Raise PatternError if ``pattern`` is no regular expression, or compiling it does not finish in time."""
    with Matcher(pattern, budget_seconds) as matcher:
        matcher.compile_check()


def literal_of(pattern: str) -> str | None:
    """The plain text that ``pattern`` stands for, or ``None`` if it is more than that."""
    plain: list[str] = []
    chars = iter(pattern)
    for char in chars:
        if char == "\\":
            escaped = next(chars, "a")
            if escaped.isascii() and escaped.isalnum():
                return None
            plain.append(escaped)
        elif char in _SPECIAL:
            return None
        else:
            plain.append(char)
    return "".join(plain)


def escape(text: str) -> str:
    """A pattern that finds exactly ``text``, with no more backslashes than needed."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in text)
