"""LT_EVENT lines: each rule, and consoles of strangers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from load_oracle_samples import RUN, complete, event, line, logged, stage

from runner.oracles.load import events
from runner.oracles.load.events import MAX_DEPTH, MAX_EVENT, events_jsonl, read_events


def test_a_sample() -> None:
    found = logged(event(expected=1, actual=[2], detail="d" * 500))
    assert (found.malformed, found.foreign, found.first_fault) == (0, 0, "")
    sample = found.events[0]
    assert (sample.sequence, sample.type, sample.name, sample.logical_key, sample.passed) == (
        1, "assertion", "held", "k0", True)
    assert sample.document == {"sequence": 1, **event(expected=1, actual=[2], detail="d" * 500)}


def test_a_stage() -> None:
    found = logged(stage("paid", "k1")).events[0]
    assert (found.type, found.name, found.logical_key, found.passed) == ("stage", "paid", "k1", None)


def test_anywhere_in_a_line_and_what_follows_is_ignored() -> None:
    raw = json.dumps(event()).encode()
    console = (b'time="x" level=info msg="LT_EVENT  ' + raw + b'" source=console\r\n'
               + b"nothing\nLT_EVENTS {}\n\xff\xfe LT_EVENT " + raw + b" LT_EVENT {}")
    found = read_events(console, RUN)
    assert (len(found.events), found.malformed) == (2, 0)


@pytest.mark.parametrize(("fields", "fault"), [
    ({"schema_version": 2}, "schema_version"), ({"schema_version": True}, "schema_version"),
    ({"schema_version": ...}, "schema_version"), ({"schema_version": "1"}, "schema_version"),
    ({"type": "metric"}, "type"), ({"type": ["stage"]}, "type"), ({"type": ...}, "type"),
    ({"run_id": 1}, "run_id is not text"), ({"assertion": None}, "assertion is not text"),
    ({"assertion": ...}, "assertion is not text"), ({"passed": 1}, "passed"), ({"passed": ...}, "passed"),
    ({"passed": "true"}, "passed"), ({"logical_key": 7}, "logical_key is not text"),
    ({"detail": 7}, "detail is not text"), ({"detail": "d" * 501}, "longer than 500"),
    ({"type": "stage", "stage": 1}, "stage is not text"),
    ({"type": "stage", "stage": "paid", "logical_key": ...}, "no logical_key"),
])
def test_rules(fields: dict[str, Any], fault: str) -> None:
    found = logged(event(**fields))
    assert (len(found.events), found.malformed, found.foreign) == (0, 1, 0)
    assert fault in found.first_fault


def test_other_runs_are_counted_apart() -> None:
    found = logged(event(), event(run_id="run_other"), event(passed=1))
    assert (len(found.events), found.malformed, found.foreign) == (1, 2, 1)
    assert found.first_fault == "is of another run"


@pytest.mark.parametrize("text", [
    b"", b"{", b"nonsense", b'"text"', b"[]", b"null", b'{"a":NaN}', b'{"a":Infinity}', b'{"a":1e999}',
    b'{"passed":false,"passed":true}', b'{"a":' + b"9" * 5000 + b"}", b"[" * 200_000, b'{"a":' * 2000,
    b'{"a":"' + b"x" * MAX_EVENT + b'"}'])
def test_hostile_lines(text: bytes) -> None:
    found = read_events(b"LT_EVENT " + text + b"\n" + line(event()), RUN)
    assert (len(found.events), found.malformed) == (1, 1)
    assert found.first_fault.isprintable()
    assert 0 < len(found.first_fault) < 400


def test_depth_is_bounded_and_keys_may_be_repeated_by_nobody() -> None:
    deep: Any = 1
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert logged(event(actual=deep)).malformed == 0
    assert "nested" in logged(event(actual=[deep])).first_fault
    twice = line(event()).replace(b'"passed": true', b'"passed": false, "passed": true')
    assert "twice" in read_events(twice, RUN).first_fault


def test_a_million_events_are_not_all_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 1000)
    found = read_events(line(event()) * 1003 + b"LT_EVENT \n" * 998_997, RUN)
    assert (len(found.events), found.malformed) == (1000, 999_000)
    assert found.first_fault == "more than 1000 events"


def test_sequence_counts_and_can_be_overridden() -> None:
    found = logged(event(), event(sequence=70), event(sequence="x"), event(sequence=True), event(passed=1), event())
    assert [each.sequence for each in found.events] == [1, 70, 3, 4, 5]
    rows = [json.loads(row) for row in events_jsonl(found).splitlines()]
    assert [row["sequence"] for row in rows] == [1, 70, 3, 4, 5]
    assert all(next(iter(row)) == "sequence" for row in rows)


def test_written_lines_read_the_same() -> None:
    found = complete(event(actual="\ud800 é\n\x1b", logical_key="ключ"), stage("paid", "k"))
    written = events_jsonl(found)
    assert written.isascii()
    assert read_events(b"".join(b"LT_EVENT " + row + b"\n" for row in written.splitlines()), RUN) == found


@given(st.lists(st.one_of(st.binary(max_size=40), st.just(b"LT_EVENT "), st.just(line(event())), st.just(b"\n"))))
def test_no_console_raises(parts: list[bytes]) -> None:
    console = b"".join(parts)
    found = read_events(console, RUN)
    marked = sum(b"LT_EVENT " in each for each in console.split(b"\n"))
    assert len(found.events) + found.malformed == marked
