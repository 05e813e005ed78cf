"""The event log: what is appended is what is read; anything else that is done to it is seen."""

from __future__ import annotations

import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import EvidenceAltered, SetupError
from runner.evidence.events import START, Event, read_events
from runner.evidence.index import Index, Opening

RUN = "run_20261130_120000_0a0b0c0d"
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-2**40, 2**40) | st.text(max_size=8),
                      lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=4), each, max_size=3))
DATA = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), min_size=1, max_size=6)
OPENING = Opening(RUN, b"/nowhere", "2026", "c", "r", "s", "docker", 1)


def chain(data: list[dict[str, object]]) -> list[Event]:
    events: list[Event] = []
    for seq, each in enumerate(data, 1):
        events.append(Event(RUN, seq, "2026", "run.judged", each, events[-1].digest() if events else START))
    return events


def log(events: list[Event]) -> bytes:
    return b"".join(event.line() + b"\n" for event in events)


@given(DATA)
def test_what_is_appended_is_what_is_read(data: list[dict[str, object]]) -> None:
    events = chain(data)
    assert list(read_events(log(events), RUN)) == events
    with tempfile.TemporaryDirectory() as place, Index(Path(place) / "store") as index:
        index.register(OPENING, events)
        assert index.lines(RUN) == [event.line() for event in events]


@given(DATA, st.data())
def test_any_edit_is_seen_in_the_log_or_in_its_head(data: list[dict[str, object]], draw: st.DataObject) -> None:
    """A byte changed, added or dropped, a line dropped, doubled or moved: refused, or the head is another one."""
    raw = log(chain(data))
    lines = raw.splitlines(keepends=True)
    at = draw.draw(st.integers(0, len(raw) - 1))
    line = draw.draw(st.integers(0, len(lines) - 1))
    other = draw.draw(st.integers(0, len(lines) - 1))
    edits = [raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:], raw[:at] + raw[at + 1:], raw[:at] + b" " + raw[at:],
             b"".join(lines[:line] + lines[line + 1:]), b"".join([*lines, lines[line]]),
             b"".join([*lines[:line], lines[other], *lines[line + 1:]])]
    for edited in edits:
        if edited == raw:
            continue
        try:
            events = read_events(edited, RUN)
        except EvidenceAltered:
            continue
        assert (len(events), events[-1].digest() if events else "") != (len(lines), chain(data)[-1].digest())


@given(DATA, st.integers(-2, 9), st.sampled_from([START, "ab" * 32, None]))
def test_the_index_takes_the_next_event_and_no_other(data: list[dict[str, object]], step: int,
                                                     previous: str | None) -> None:
    events = chain([*data, {}])
    last = events.pop()
    candidate = replace(last, seq=last.seq + step, previous=last.previous if previous is None else previous)
    with tempfile.TemporaryDirectory() as place, Index(Path(place) / "store") as index:
        index.register(OPENING, events)
        if candidate == last:
            index.append(candidate)
        else:
            with pytest.raises(SetupError, match="refuses"):
                index.append(candidate)
        raw = sqlite3.connect(Path(place) / "store" / "index.db")
        assert raw.execute("SELECT count(*) FROM events").fetchone() == (len(events) + (candidate == last),)
        raw.close()
