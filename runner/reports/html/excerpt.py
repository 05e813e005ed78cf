"""What of a long output is put on the page: its beginning, its end, and what is around the match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from runner.evidence.parts import StreamRecord
from runner.evidence.result import MatchRecord
from runner.reports.html.ansi import render_output
from runner.reports.html.words import size

_LINE_REACH = 16
"""A cut moves to a line's beginning if there is one within this fraction of the excerpt."""


_LONGEST_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of output as markup, or ``None`` and words about what is left out here."""

    markup: Markup | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One stream of a run, ready for the page. ``facts`` say how much there is and what was done to it."""

    name: str
    file: str
    facts: tuple[str, ...]
    parts: tuple[Part, ...]


def excerpt(name: str, stream: StreamRecord, data: bytes, match: MatchRecord | None, limit: int) -> Excerpt:
    """At most about ``limit`` bytes of ``data``, which is all that was kept of ``stream``."""
    span = None
    if match is not None and match.stream == name and 0 <= match.start < match.end <= len(data):
        span = (match.start, match.end)
    return Excerpt(name=name, file=stream.file or "", facts=_facts(stream), parts=_parts(stream, data, span, limit))


def _facts(stream: StreamRecord) -> tuple[str, ...]:
    said = [size(stream.bytes)]
    if stream.truncated:
        said.append(f"truncated: {size(stream.kept)} kept, from the beginning and the end")
    if stream.masked:
        said.append(f"{size(stream.masked)} masked: credentials")
    return tuple(said)


def _parts(stream: StreamRecord, data: bytes, span: tuple[int, int] | None, limit: int) -> tuple[Part, ...]:
    parts, shown_to = [], 0
    lost_at = len(data) - len(data) // 2 if stream.truncated else 0  # where the capture lost its middle
    for begin, end in _cut(shown_ranges(data, span, limit), lost_at):
        if begin > shown_to:
            parts.append(Part(left_out=f"{size(begin - shown_to)} not shown here"))
        if stream.truncated and shown_to <= lost_at <= begin:
            parts.append(Part(left_out=f"{size(stream.bytes - stream.kept)} not kept"))
        parts.append(Part(render_output(data[begin:end], _within(span, begin, end))))
        shown_to = end
    if shown_to < len(data):
        parts.append(Part(left_out=f"{size(len(data) - shown_to)} not shown here"))
    return tuple(parts)


def _cut(ranges: list[tuple[int, int]], at: int) -> Iterator[tuple[int, int]]:
    for begin, end in ranges:
        if begin < at < end:
            yield from ((begin, at), (at, end))
        else:
            yield begin, end


def _within(span: tuple[int, int] | None, begin: int, end: int) -> tuple[int, int] | None:
    if span is None or span[0] >= end or span[1] <= begin:
        return None
    return max(span[0], begin) - begin, min(span[1], end) - begin


def shown_ranges(data: bytes, span: tuple[int, int] | None, limit: int) -> list[tuple[int, int]]:
    """Spans of ``data`` to show, sorted and apart. A match is always in them, or at least both its ends are."""
    if len(data) <= limit:
        return [(0, len(data))] if data else []
    part = limit // 4
    wanted = [(0, part if span else limit // 2), (len(data) - (part if span else limit // 2), len(data))]
    wanted += [(at - part // 2, at + part // 2) for at in span or ()]
    joined: list[tuple[int, int]] = []
    for begin, end in sorted((_at_line(data, begin, part), _at_line(data, end, part)) for begin, end in wanted):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((begin, end))
    return joined


def _at_line(data: bytes, at: int, part: int) -> int:
    """``at``, or a little later: the next line's beginning if near, else at least no half character."""
    if at <= 0 or at >= len(data):
        return min(max(at, 0), len(data))
    line = data.find(b"\n", at - 1, at + part // _LINE_REACH)
    if line >= 0:
        return line + 1
    for _ in range(_LONGEST_CHARACTER - 1):
        if at < len(data) and 0x80 <= data[at] < 0xC0:
            at += 1
    return at
