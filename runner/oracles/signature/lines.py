"""Cleaning of output lines before a traceback is looked for in them (ReproMin's rules).

Everything here and in the readers takes time linear in the text: patterns use possessive repeats, so nothing
is ever tried twice, lines are yielded one by one, and what is kept is capped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_LINE = 65_536
"""Characters of a line that are looked at."""

MAX_FRAMES = 1_024
"""Frames kept of one exception; a Java stack trace has no more by default."""

MAX_BLOCKS = 20_000
"""Exceptions kept of one text; later ones are not looked at."""

SIGNATURE_FRAMES = 3
"""Frames that are part of a signature."""

_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]+")
_CSI = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]")
_BRACKETS = re.compile(r"(?:\[[^\]]++\]\s*+)++")
_MARGIN = re.compile(r"[|+][|+\s]*+")


def lines_of(text: str) -> Iterator[str]:
    """Lines of ``text`` as ``str.splitlines`` cuts them, without empty ones, at most MAX_LINE long."""
    for found in _LINE.finditer(text):
        start, end = found.span()
        yield text[start:min(end, start + MAX_LINE)]


def from_first(text: str, clue: re.Pattern[str]) -> str:
    """``text`` from the line with the first clue on, empty without one: a long log before it costs one search."""
    found = clue.search(text)
    return text[text.rfind("\n", 0, found.start()) + 1:] if found else ""


def without_colour(line: str) -> str:
    """``line`` without ANSI control sequences."""
    return _CSI.sub("", line) if "\x1b" in line else line


def clean(line: str) -> str:
    """``line`` without ANSI control sequences, leading ``[…]`` groups, and blanks at both ends."""
    return _without_brackets(without_colour(line)).strip()


def clean_python(line: str) -> tuple[str, int]:
    """As :func:`clean`, also without an exception group's margin; and the column where the rest begins."""
    line = without_colour(line).rstrip()
    rest = _without_brackets(line).lstrip()
    margin = _MARGIN.match(rest)
    if margin:
        rest = rest[margin.end():]
    return rest, len(line) - len(rest)


def fold(message: str) -> str:
    """``message`` with every run of whitespace as one blank, ends trimmed."""
    return " ".join(message.split())


def _without_brackets(line: str) -> str:
    prefix = _BRACKETS.match(line)
    return line[prefix.end():] if prefix else line
