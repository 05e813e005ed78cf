"""Tables and lists of hostile texts in Markdown: one line a row, every text in code, bounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.errors import printable
from runner.reports.markup import code

MOST_LISTED = 20
_MAX_CELL = 300
"""Entries of a list; characters of a text."""


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A table. In cells a ``|`` is shown as its escape, since renderers disagree on how to write one."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield f"| {' | '.join(cell(text) for text in row)} |"


def bounded(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int, what: str) -> Iterator[str]:
    """A table of at most so many rows, and how many more there are."""
    yield from table(heads, rows[:most])
    yield from more(len(rows) - most, what)


def listed(title: str, texts: tuple[str, ...]) -> Iterator[str]:
    """A title and its list; nothing for an empty one."""
    if texts:
        yield ""
        yield f"**{title}**"
        yield ""
        yield from (f"- {code(short(text))}" for text in texts[:MOST_LISTED])
        yield from more(len(texts) - MOST_LISTED, "like this")


def more(number: int, what: str) -> Iterator[str]:
    """How many are left out."""
    if number > 0:
        yield ""
        yield f"And {number} more {what}."


def cell(text: str) -> str:
    """A text for a table."""
    return code(short(text).replace("|", "\\x7c"))


def short(text: str) -> str:
    """Printable, bounded, and never blank: a span of blanks would vanish."""
    shown = printable(text[:_MAX_CELL]) + ("…" if len(text) > _MAX_CELL else "")
    return shown if shown.strip() else shown.replace(" ", "\\x20")
