"""Incidents: whatever is written is read back whole, and no content of a file raises anything but our own errors."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Chaos, Race, Ready
from runner.browser.outcome import BrowserFacts, Lane, Outcome, Response, Signal, StepRecord, write_outcome
from runner.browser.trace import STEPS, StateFaultStep, Step
from runner.errors import NoVerdict, ReportError
from runner.evidence.sessions import decide_sessions
from runner.incidents.identity import Identity, fits, identity_of
from runner.incidents.loki.shape import LokiFile
from runner.incidents.model import Failure, ImagePart, Incident, NoiseCount, OwnPart, TargetPart
from runner.incidents.outcomes import parse_outcome
from runner.incidents.read import parse_incident
from runner.incidents.write import write_incident
from runner.oracles.events import judge_session

NEEDED = {"replay_trace", "target_url", "persona"}
SAMPLES = sorted((Path(__file__).parent.parent / "data" / "loki").rglob("incident*.json"))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAME = st.from_regex(r"[a-z0-9_][a-z0-9._-]{0,8}", fullmatch=True)
NUMBER = st.floats(0, 1e9, allow_nan=False) | st.integers(0, 10**9)
COUNT = st.integers(0, 10**6)
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-2**70, 2**70) | st.floats() | st.text(max_size=8),
                      lambda each: st.lists(each, max_size=4) | st.dictionaries(st.text(max_size=6), each, max_size=4),
                      max_leaves=12)
FIXED: dict[str, st.SearchStrategy[Any]] = {
    "selector": st.text(min_size=1, max_size=8).filter(str.isprintable), "repeat": st.integers(1, 99),
    "delay_ms": st.integers(0, 999), "latency_ms": st.integers(0, 999)}
STEP: st.SearchStrategy[Step] = st.one_of(*(
    st.builds(kind, **{name: FIXED[name] for name in kind.__dataclass_fields__ if name in FIXED},
              kind=st.just(word)) for word, kind in STEPS.items()))
BODY = st.none() | st.binary(max_size=20).map(lambda raw: base64.b64encode(raw).decode())
API = st.builds(ApiFault, method=TEXT, url=TEXT, occurrence=COUNT, from_step=st.integers(-1, 9), content_type=TEXT,
                status=st.none() | st.integers(100, 599), body=BODY, delay_ms=COUNT, step=st.integers(-1, 9),
                original_status=st.none() | st.integers(100, 599), details=TEXT)
STATE = st.builds(StateFault, storage_area=TEXT, key=TEXT, injected_value=st.none() | TEXT, offset_ms=COUNT,
                  original_value=st.none() | TEXT, details=TEXT)
SIGNAL = st.builds(Signal, step=st.integers(-1, 3), at_ms=NUMBER, message=TEXT, stack=TEXT, method=TEXT, url=TEXT,
                   status=st.none() | st.integers(100, 599), resource=TEXT, page=TEXT,
                   lane=st.none() | st.integers(0, 3), screenshot=st.just("") | NAME)
LANE = st.builds(Lane, lane=st.integers(0, 9), selector=st.none() | TEXT, clicked_ms=st.none() | NUMBER,
                 crashes=st.lists(TEXT, max_size=2).map(tuple), final_text=st.none() | TEXT, missing=st.booleans(),
                 responses=st.lists(st.builds(Response, TEXT, TEXT, st.integers(100, 599), TEXT, TEXT), max_size=3).map(
                     tuple))
IDENTITY = st.builds(Identity, TEXT, TEXT, st.lists(TEXT, max_size=3).map(tuple), TEXT, TEXT, st.none() | COUNT)
FAILURE = st.builds(Failure, IDENTITY, st.none() | COUNT, st.none() | NUMBER, COUNT, st.none() | SIGNAL)
PAIRS = st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple)
IMAGE = st.builds(ImagePart, TEXT, TEXT)
TARGET = st.builds(TargetPart, TEXT | st.lists(TEXT, max_size=3).map(tuple), IMAGE,
                   st.builds(Ready, st.none() | TEXT, st.none() | COUNT, NUMBER), st.none() | TEXT)
RECORD = st.builds(StepRecord, index=COUNT, started_ms=NUMBER, ended_ms=NUMBER, detail=TEXT, screenshot=TEXT)
CHAOS = st.builds(Chaos, steps=st.none() | COUNT, duration_ms=COUNT, fault_rate=st.floats(0, 1))
OWN = st.builds(OwnPart, TEXT, TEXT, TEXT, TEXT, TEXT, st.none() | TARGET, st.none() | IMAGE, PAIRS, TEXT,
                st.none() | CHAOS, detail=TEXT, browser=st.builds(BrowserFacts, TEXT, TEXT, device=TEXT),
                versions=PAIRS, steps=st.lists(RECORD, max_size=2).map(tuple),
                uncontrolled=st.lists(TEXT, max_size=2).map(tuple),
                noise=st.lists(st.builds(NoiseCount, TEXT, COUNT, TEXT), max_size=2).map(tuple),
                dropped=st.lists(st.tuples(TEXT, COUNT), max_size=2).map(tuple), spread_ms=st.none() | NUMBER,
                files=st.lists(NAME, max_size=2).map(tuple))


def refusal(raw: bytes, read: Callable[[bytes], object] = parse_incident) -> str:
    """What is said of bytes that are refused; empty for what is read."""
    try:
        read(raw)
    except (ReportError, NoVerdict) as error:
        assert isinstance(error, NoVerdict if read is parse_outcome else ReportError)  # noqa: PT017
        return error.message
    return ""


def _tuples(values: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(values, max_size=most).map(tuple)


@st.composite
def incidents(draw: st.DrawFn) -> Incident:
    trace = draw(_tuples(STEP, 4))
    marks = sum(isinstance(step, StateFaultStep) for step in trace)
    return Incident(
        draw(st.sampled_from(["loki", "runner"])), "http://127.0.0.1:8801/", "", "", draw(TEXT), draw(TEXT),
        draw(st.none() | TEXT), draw(st.sampled_from(["chromium", "firefox", "webkit"])),
        draw(st.none() | st.integers(-2**62, 2**62)), draw(st.none() | TEXT), draw(st.booleans()), draw(NUMBER),
        draw(st.sampled_from(["recorded", "stepped"])), trace, draw(_tuples(API, 2)),
        tuple(draw(STATE) for _ in range(marks)),
        draw(st.none() | st.builds(Race, st.integers(2, 9), st.none() | TEXT)),
        draw(_tuples(LANE, 3)), draw(_tuples(FAILURE, 3)), draw(_tuples(TEXT, 3)), draw(_tuples(TEXT, 3)),
        draw(st.none() | OWN))


@given(incidents(), _tuples(SIGNAL, 4))
@settings(deadline=None, max_examples=60)
def test_what_is_written_is_read_back_whole(incident: Incident, signals: tuple[Signal, ...]) -> None:
    outcome = Outcome("done", started="2026-11-30T08:00:00.000Z", signals=signals)
    assert replace(parse_incident(write_incident(incident, outcome)), path="", sha256="") == incident


@given(incidents(), _tuples(SIGNAL, 6), _tuples(LANE, 3), st.sampled_from(["done", "diverged", "crashed", "not_ready"]))
@settings(deadline=None, max_examples=60)
def test_any_session_can_be_judged(incident: Incident, signals: tuple[Signal, ...], lanes: tuple[Lane, ...],
                                   state: Any) -> None:
    outcome = Outcome(state, trace=incident.trace, signals=signals, lanes=lanes)
    judgement = judge_session(incident, outcome)
    assert len(judgement.found) + len(judgement.missing) in (0, len(incident.failures))
    assert len(judgement.found) == len(judgement.seen)
    if incident.failures:
        verdict = decide_sessions(incident, [judgement, judgement], 2).verdict
        assert all(reason.isprintable() for reason in verdict.reasons)
        assert (verdict.exit_code == 1) <= (judgement.kind == "judged" and len(judgement.found) == 0)


@given(VALUES | st.fixed_dictionaries(dict.fromkeys(NEEDED, VALUES),
                                      optional=dict.fromkeys({*LokiFile.model_fields, "runner"} - NEEDED, VALUES)))
@settings(deadline=None)
def test_no_json_raises_anything_but_a_report_error(value: object) -> None:
    assert refusal(json.dumps(value).encode()).isprintable()


@given(st.sampled_from(SAMPLES), st.data())
@settings(deadline=None)
def test_no_damage_to_a_sample_raises_anything_but_a_report_error(path: Path, data: st.DataObject) -> None:
    document = json.loads(path.read_text())
    place, parent, key = document, document, "run_id"
    while place and isinstance(place, dict | list):
        parent = place
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        place = place[key]  # type: ignore[index]
    parent[key] = data.draw(VALUES)  # type: ignore[index]
    assert refusal(json.dumps(document).encode()).isprintable()


@given(st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
@settings(deadline=None)
def test_no_bytes_of_a_driver_raise_anything_but_no_verdict(raw: bytes) -> None:
    assert refusal(raw).isprintable()
    assert refusal(raw, parse_outcome).isprintable()


@given(_tuples(SIGNAL, 4), _tuples(LANE, 2))
@settings(deadline=None)
def test_an_outcome_is_read_back_whole(signals: tuple[Signal, ...], lanes: tuple[Lane, ...]) -> None:
    steps = tuple(StepRecord(index, "done", 0.0, 1.0) for index in range(4))
    outcome = Outcome("done", signals=signals, lanes=lanes, steps=steps)
    assert parse_outcome(write_outcome(outcome)) == outcome


@given(SIGNAL)
def test_every_signal_has_a_name_that_fits_itself(signal: Signal) -> None:
    identity = identity_of(signal)
    assert fits(identity, identity)
    assert identity == identity_of(replace(signal, step=9, at_ms=0.0, lane=None, screenshot="", page=""))
    assert identity.key.isprintable()
    assert "\n" not in identity.key
