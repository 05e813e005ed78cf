"""What a stream can show: a line that is drawn again, and colour. https://no-color.org says when not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Final, Literal

Colour = Literal["green", "red", "yellow"]
_CODES: Final[Mapping[str, str]] = {"red": "31", "green": "32", "yellow": "33"}
_NO_WIDTH = 80
VERDICT_COLOURS: Final[Mapping[str, Colour]] = {
    "reproduced": "green", "not_reproduced": "red", "no_verdict": "yellow", "recorded": "green",
    "pass": "green", "fail": "red", "inconclusive": "yellow", "error": "yellow"}


def redraws(stream: IO[str]) -> bool:
    """Whether a line can be drawn over: a terminal, and one that knows control sequences."""
    return stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def colours(stream: IO[str]) -> bool:
    """Whether colour is welcome."""
    return redraws(stream) and not os.environ.get("NO_COLOR")


def painted(text: str, colour: Colour, *, on: bool) -> str:
    """Text in a colour, or as it is."""
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if on else text


def width(stream: IO[str]) -> int:
    """Columns of the terminal, as it is now."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _NO_WIDTH
    except (OSError, ValueError):
        return _NO_WIDTH
