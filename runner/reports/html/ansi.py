"""A stranger's output as markup: colours become classes, every other control is shown, nothing is obeyed.

* SGR sequences set colours (:mod:`runner.reports.html.sgr`).
* Any other escape sequence (cursor movement, OSC 8 links, titles, device queries) is shown as the characters it is
  made of, ESC as ``^[``. Nothing that came is hidden, so whatever a pattern matched can be seen.
* A lone carriage return is shown and starts a new line; a line overwritten many times shows its first and last state.
* Controls, bytes that are not UTF-8, bidirectional controls and other invisible characters are spelled out.

Every step is linear in the length of the input.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby, pairwise

from markupsafe import Markup, escape

from runner.reports.html.sgr import Pen

_TOKEN = re.compile(
    "\x1b\\[(?P<colour>[0-9;:]*+)m"
    "|(?P<newline>\r?\n)"
    "|(?P<overwrite>\r)"
    "|(?P<control>\x1b\\[[0-?]*+[ -/]*+[@-~]"
    "|\x1b\\][^\x1b\x07\r\n]{0,2048}+(?:\x07|\x1b\\\\)"
    "|\x1b)"
    "|(?P<stray>[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\udc80-\udcff]++)"
    "|(?P<plain>[^\x00-\x08\x0a-\x1f\x7f-\x9f\udc80-\udcff]++)")
_OVERWRITES_SHOWN = 4
_CONTROL = "e"


def render_output(data: bytes, match: tuple[int, int] | None = None) -> Markup:
    """Markup of phrasing content for a ``<pre>``. ``match`` is a span of byte offsets in ``data`` to highlight."""
    start, end = match or (0, 0)
    pieces = [part.decode("utf-8", "surrogateescape") for part in (data[:start], data[start:end], data[end:])]
    first = len(pieces[0])
    marked = range(first, first + len(pieces[1]))
    text = "".join(pieces)
    return _render(text, marked, _overwritten(text, marked))


class _Writer:
    """Collects runs of text; neighbours that look alike share an element."""

    def __init__(self, marked: range) -> None:
        self._parts: list[str] = []
        self._marked = marked
        self._in_mark = False
        self._classes = ""

    def put(self, text: str, classes: str, at: int, length: int) -> None:
        """Write what stands for ``length`` characters of the source from ``at`` on; text is never split here."""
        self._switch(at < self._marked.stop and at + length > self._marked.start, classes)
        self._parts.append(escape(text))

    def put_characters(self, text: str, classes: str, at: int) -> None:
        """Like :meth:`put` for characters that are no sequence, cut where the match begins and ends."""
        cuts = [cut - at for cut in (self._marked.start, self._marked.stop) if at < cut < at + len(text)]
        for begin, end in pairwise((0, *cuts, len(text))):
            self._put_parted(text[begin:end], classes, at + begin)

    def _put_parted(self, text: str, classes: str, at: int) -> None:
        for shows, part in _parted(text):
            self.put(part if shows else spelled(part), classes if shows else _CONTROL, at, len(part))
            at += len(part)

    def finish(self) -> Markup:
        """Close what is open."""
        self._switch(False, "")
        return Markup("".join(self._parts))  # noqa: S704 - put() has escaped every text in it

    def _switch(self, mark: bool, classes: str) -> None:
        if (mark, classes) == (self._in_mark, self._classes):
            return
        if self._classes:
            self._parts.append("</span>")
        if mark != self._in_mark:
            self._parts.append("<mark>" if mark else "</mark>")
        if classes:
            self._parts.append(f'<span class="{classes}">')
        self._in_mark, self._classes = mark, classes


def _render(text: str, marked: range, hidden: list[range]) -> Markup:
    pen, writer = Pen(), _Writer(marked)
    hidden.reverse()
    for token in _TOKEN.finditer(text):
        at, said = token.start(), token[0]
        while hidden and at >= hidden[-1].stop:
            hidden.pop()
        if token.lastgroup == "colour":
            pen.apply(token["colour"])
        if hidden and at >= hidden[-1].start:
            if at == hidden[-1].start:
                writer.put("… overwritten states not shown …\n", _CONTROL, at, 0)
        elif token.lastgroup in ("plain", "stray"):
            writer.put_characters(said, pen.classes, at)
        elif token.lastgroup == "newline":
            writer.put("\n", pen.classes, at, len(said))
        elif token.lastgroup == "overwrite":
            writer.put("^M\n", _CONTROL, at, 1)
        elif token.lastgroup == "control" or (at < marked.stop and token.end() > marked.start):
            writer.put(spelled(said), _CONTROL, at, len(said))
    return writer.finish()


def _overwritten(text: str, marked: range) -> list[range]:
    """Spans of states that a line went through before its last, except those that the match touches."""
    found: list[range] = []
    at = 0
    for line in text.split("\n") if "\r" in text else ():
        states = line.rstrip("\r").split("\r")
        if len(states) > _OVERWRITES_SHOWN:
            begin = at + len(states[0]) + 1
            end = at + len(line.rstrip("\r")) - len(states[-1])
            found += _around(range(begin, end), marked)
        at += len(line) + 1
    return found


def _around(span: range, marked: range) -> list[range]:
    if not marked or marked.stop <= span.start or marked.start >= span.stop:
        return [span]
    return []


def _parted(text: str) -> Iterator[tuple[bool, str]]:
    """Runs of characters that can be seen, and of those that cannot."""
    if text.replace("\t", "").isprintable():
        yield True, text
    else:
        yield from ((shows, "".join(group)) for shows, group in groupby(text, _shows))


def _shows(char: str) -> bool:
    return char.isprintable() or char == "\t" or unicodedata.category(char) == "Zs"


def spelled(text: str) -> str:
    """Invisible characters in words: ``^[`` for ESC, ``\\x9f`` for a stray byte, ``<U+202E>`` for the rest."""
    return "".join(char if char.isprintable() or char == "\t" else _spell(ord(char)) for char in text)


def _spell(code: int) -> str:
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"<U+{code:04X}>"
