"""Whatever a page, a driver or a recording writes, in every field of a session: only our markup is on the page."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stored_sessions import INCIDENT, har, make_session
from strict_html import problems, text_of
from test_html_hostile import hostile_text, poisoned

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.result import Sample
from runner.evidence.session_record import FileRecord, SessionRecord, SessionRun
from runner.reports.html import render_html

FIXED = {"mode", "state", "sandbox", "screenshot"}
"""Names of fields whose values the schema fixes, or which say where to read."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_session(tmp_path_factory.mktemp("hostile"))


def with_session(evidence: Evidence, text: str, number: int | None = None) -> Evidence:
    """The evidence with ``text`` in every text of its session."""
    session, sample = evidence.result.session, evidence.result.samples[0]
    assert session is not None
    assert sample.session is not None
    run = _poisoned(sample.session.model_dump(), text)
    if number is not None:
        run["steps"] = [{**step, "index": number} for step in run["steps"][:3]]
        run["failures"] = [{**failure, "step": number} for failure in run["failures"]]
    told = _poisoned(session.model_dump(exclude={"files", "driver_policy"}), text)
    told |= {"files": session.files, "driver_policy": session.driver_policy}
    changed: Sample = sample.model_copy(update={"session": SessionRun.model_validate(run)})
    return replace(evidence, result=evidence.result.model_copy(update={
        "session": SessionRecord.model_validate(told), "samples": (changed,)}))


def _poisoned(value: object, text: str) -> dict[str, object]:
    document = poisoned(value, text)
    original = value

    def restored(new: object, old: object) -> object:
        if isinstance(new, dict) and isinstance(old, dict):
            return {name: old[name] if name in FIXED else restored(inner, old[name]) for name, inner in new.items()}
        if isinstance(new, list) and isinstance(old, list | tuple):
            return [restored(one, other) for one, other in zip(new, old, strict=True)]
        return new

    found = restored(document, original)
    assert isinstance(found, dict)
    return found


@settings(max_examples=15)
@given(text=hostile_text)
def test_hostile_text_in_every_field_of_a_session(evidence: Evidence, text: str) -> None:
    page = render_html(with_session(evidence, text))
    page.encode()
    assert problems(page) == []
    assert " ".join(printable(text).split()) in " ".join(text_of(page).split())


@settings(max_examples=10)
@given(number=st.integers(-3, 1 << 70))
def test_hostile_numbers_of_steps(evidence: Evidence, number: int) -> None:
    assert problems(render_html(with_session(evidence, "text", number))) == []


@settings(max_examples=10)
@given(text=hostile_text)
def test_hostile_requests_and_incident(evidence: Evidence, text: str) -> None:
    """In the files beside the evidence, too. They parse, or their tables are left out."""
    incident = json.loads(json.dumps(poisoned(INCIDENT, text)))
    for key in ("browser", "target_url"):
        incident[key] = INCIDENT[key]
    for fault, known in zip(incident["api_faults"] + incident["state_faults"],
                            INCIDENT["api_faults"] + INCIDENT["state_faults"], strict=True):
        fault["fault_type"] = known["fault_type"]
    incident["replay_trace"][0] |= {"kind": "state_fault", "fault_type": "clock_drift"}
    requests = har(text, 3)
    requests["log"]["entries"][0] = poisoned(requests["log"]["entries"][0], text)
    files = {"incident.json": json.dumps(incident).encode(), "network.har": json.dumps(requests).encode()}
    assert evidence.result.session is not None
    records = []
    for record in evidence.result.session.files:
        data = files.get(record.name)
        if data is None:
            records.append(record)
        else:
            (evidence.directory / record.name).write_bytes(data)
            records.append(FileRecord(name=record.name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest()))
    session = evidence.result.session.model_copy(update={"files": tuple(records)})
    page = render_html(replace(evidence, result=evidence.result.model_copy(update={"session": session})))
    assert problems(page) == []
    assert "Fault" in text_of(page)
