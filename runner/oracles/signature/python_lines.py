"""The lines that Python and pytest write about an exception, one question each. All take linear time."""

from __future__ import annotations

import re
from typing import NamedTuple

from runner.oracles.signature.lines import fold
from runner.oracles.signature.reading import Reading

HEADINGS = frozenset({"Traceback (most recent call last):",
                      "Exception Group Traceback (most recent call last):"})

CLUE = re.compile(r"\x1b|Traceback \(most recent call last\):|File [\"']|\.py:\d|(?<![^\s|+\]])E\s")
"""What a line has that a block can begin with, cleaned or not."""

_FRAME_END = re.compile(r"[\"'], line \d++(?:, in (?P<function>.+))?+$")
_PACKAGE = re.compile(r"[A-Za-z_]\w*+")
_CLASS = re.compile(r"[A-Z][A-Za-z0-9_]*+")
_PYTEST_MARK = re.compile(r"E\s++")
_PYTEST_PLACE = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?+[^:]++(?<=[^:]\.py)):\d++"
    r"(?:: in (?P<function>[^:]++))?+(?:: [A-Z][A-Za-z0-9_.]*+)?+")


class Place(NamedTuple):
    """A frame's path and function as written; ``None`` where no function is named."""

    path: str
    function: str | None


class Header(NamedTuple):
    """An exception's class as written, and its folded message."""

    class_name: str
    message: str


def frame_line(line: str) -> Place | None:
    """``File "path", line N[, in function]``."""
    if not line.startswith(('File "', "File '")):
        return None
    end = _FRAME_END.search(line, 7)
    return Place(line[6:end.start()], end["function"]) if end else None


def exception_line(line: str, reading: Reading) -> Header | None:
    """``dotted.Name[: message]`` and nothing else."""
    name, colon, message = line.partition(":")
    if _is_class(name) or (reading is Reading.NATIVE and (colon or "." in name) and _is_other_class(name)):
        return Header(name, fold(message))
    return None


def pytest_line(line: str, reading: Reading) -> Header | None:
    """``E   dotted.Name[: message]``; natively also ``E   assert …``, which is how a bare assert is shown.

    A lower-case name must be dotted here: pytest marks any text so.
    """
    mark = _PYTEST_MARK.match(line)
    text = line[mark.end():] if mark else ""
    if reading is Reading.NATIVE and text.startswith("assert "):
        return Header("AssertionError", fold(text))
    header = exception_line(text, reading)
    return header if header and (_is_class(header.class_name) or "." in header.class_name) else None


def is_pytest_error(line: str) -> bool:
    """Whether pytest marked this line as part of an error."""
    return line == "E" or _PYTEST_MARK.match(line) is not None


def pytest_place(line: str) -> Place | None:
    """``path.py:N``, ``path.py:N: in function`` or ``path.py:N: Name``."""
    found = _PYTEST_PLACE.fullmatch(line)
    return Place(found["path"], found["function"]) if found else None


def _is_class(name: str) -> bool:
    *packages, last = name.split(".")
    return (_CLASS.fullmatch(last) is not None
            and all(_PACKAGE.fullmatch(package) is not None for package in packages))


def _is_other_class(name: str) -> bool:
    """Whether this can be a class at all: lower-case, in any script, or defined inside a function."""
    *packages, last = name.split(".")
    return last.isidentifier() and all(part.isidentifier() or part == "<locals>" for part in packages)
