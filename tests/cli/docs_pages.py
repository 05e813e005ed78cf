"""The documentation as data: its pages, the examples in them, their links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOP = tuple(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md"))
PAGES = (TOP[0], *sorted(DOCS.glob("*.md")))
"""Pages whose examples are run."""

SCRIPT = "python3 -c "

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)


class Step(NamedTuple):
    """One command of an example and what the page says it prints."""

    command: str
    shown: str


def examples(page: Path) -> list[list[Step]]:
    """The examples of a page: a ``console`` block as its commands in order, a ``python`` block as one command that
    prints the ``text`` block after it.
    """
    blocks = [*_FENCE.findall(page.read_text(encoding="utf-8")), ("", "")]
    found = []
    for (kind, body), (next_kind, next_body) in pairwise(blocks):
        if kind == "console":
            found.append(list(_steps(body)))
        if kind == "python":
            found.append([Step(f"{SCRIPT}{shlex.quote(body)}", next_body if next_kind == "text" else "")])
    return found


def _steps(body: str) -> Iterator[Step]:
    parts = re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.MULTILINE)
    if parts[0]:
        raise ValueError(f"an example must start with a command: {body[:60]!r}")
    for part in parts[1:]:
        command, _, shown = part.partition("\n")
        yield Step(command, shown)


def links(page: Path) -> list[str]:
    """Targets of the links of a page that stay in the repository."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [target for target in _LINK.findall(prose) if "://" not in target]


def anchors(page: Path) -> set[str]:
    """Names by which a link may point at a heading: lower case, blanks as hyphens, other signs left out."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(prose)}


def section(page: Path, heading: str) -> str:
    """The text below a heading, up to the next one of any level."""
    text = page.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"{heading}\n")
    if not found:
        raise ValueError(f"{page.name} has no heading {heading!r}")
    return re.split(r"^#+ ", rest, maxsplit=1, flags=re.MULTILINE)[0]
