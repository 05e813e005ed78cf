"""Markdown of hostile texts: values stand in code spans and fences, where nothing is obeyed.

Lists and not tables hold what a stranger wrote: in a table no spelling of ``|`` is safe in every renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from runner.errors import printable

_TICKS = re.compile("`+")


def code(text: str) -> str:
    """A code span on one line. Controls, newlines and bad UTF-8 are shown as escapes."""
    shown = printable(text)
    if not shown.strip():
        return f"<code>{shown}</code>" if shown else "*empty*"
    fence = "`" * (_longest(shown) + 1)
    # Markdown takes one blank from each side, which keeps a backtick at an end apart from the fence.
    padding = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def fenced(lines: Iterable[str], language: str = "text") -> list[str]:
    """A fenced block. Each line is one line whatever it holds."""
    shown = [printable(line) for line in lines]
    fence = "`" * max(3, max((_longest(line) for line in shown), default=0) + 1)
    return [f"{fence}{language}", *shown, fence]


def item(label: str, value: str) -> str:
    """A list item: a word of ours and a value that is nobody's to trust."""
    return f"- {label}: {code(value)}"


def _longest(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)
