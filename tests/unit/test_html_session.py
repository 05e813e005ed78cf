"""The page of a browser session: what is on it, what leads where, and what is left out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from stored_runs import make_evidence
from stored_sessions import INCIDENT, RUN, SEEN, VERDICTS, har, make_session
from strict_html import document, problems, text_of

from runner.errors import EvidenceAltered
from runner.evidence.check import Evidence
from runner.reports.html import render_html
from runner.reports.html.session import media
from runner.reports.html.session.read import session_of
from runner.reports.html.session.requests import requests_of


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_session(tmp_path_factory.mktemp("session"))


@pytest.fixture(scope="module")
def page(evidence: Evidence) -> str:
    return render_html(evidence)


def test_it_parses_strictly(page: str) -> None:
    assert problems(page) == []


def test_every_link_leads_somewhere_and_no_anchor_is_there_twice(page: str) -> None:
    nodes = list(document(page).iter())
    anchors = [node.attrib["id"] for node in nodes if "id" in node.attrib]
    links = {node.attrib["href"].removeprefix("#") for node in nodes if "href" in node.attrib}
    assert len(anchors) == len(set(anchors))
    assert links <= set(anchors)
    assert {"step-0", "start", "failure-1", "step-220"} <= links


def test_a_failure_leads_to_its_step_and_back(page: str) -> None:
    tree = document(page)
    step = next(node for node in tree.iter() if node.attrib.get("id") == "step-0")
    assert "#failure-1" in [node.attrib.get("href") for node in step.iter()]
    row = next(node for node in tree.iter() if node.attrib.get("id") == "failure-1")
    assert "#step-0" in [node.attrib.get("href") for node in row.iter()]


@pytest.mark.parametrize("words", [
    "✓ reproduced", "! partly", "✕ not reproduced", "! new", "1 of 2 runs", "at 0.204 s, 6 times", "RageClicker",
    "chromium 156.0", "it repeats another failure that is listed", "of tomorrow", "+2.5 ms", "never", "redeemed",
    "The pages saw their clicks within 2.5 ms.", "POST http://127.0.0.1:8801/api/pay", "503", "clock_drift", "+7200s",
    "20 more are not shown", "28 steps at which nothing failed are not shown", "python3 app.py --port 8801",
    "not put in, because its request never came: delay for GET /x", "7 signals of kind console_error",
    "raced in 1 of 2 runs", "reading the ledger"])
def test_it_says(page: str, words: str) -> None:
    assert words in " ".join(text_of(page).split())


def test_a_command_has_none_of_it(tmp_path: Path) -> None:
    evidence = make_evidence(tmp_path)
    page = render_html(evidence)
    assert session_of(evidence) is None
    assert "img-src" not in page
    assert "Timeline" not in page
    assert "The claim" in page


def test_media_are_in_the_page_only_as_what_they_are(evidence: Evidence, page: str) -> None:
    """Bytes that are no PNG are not shown as one, whatever the driver calls them."""
    assert len(re.findall(r"<img ", page)) == 1
    assert "The page at step 220: 10 B, in the file <code>shot-220.png</code>" in page
    assert "img-src data:; media-src data:;" in page


def test_a_large_video_stays_beside_the_page(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "MAX_VIDEO", 1000)
    page = render_html(evidence)
    assert "<video" not in page
    assert "too much for a page: see the file <code>replay.webm</code>" in page


def test_pictures_have_a_budget_together(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "MAX_PICTURES", 500)
    assert "<img" not in render_html(evidence)


def test_a_picture_of_a_replay_is_among_the_runs_artifacts(evidence: Evidence) -> None:
    sample = evidence.result.samples[0]
    artifact = sample.artifacts[0].model_copy(update={"path": "out/shot-7.png"})
    failure = SEEN[0].model_copy(update={"screenshot": "shot-7.png"})
    changed = sample.model_copy(update={"artifacts": (artifact,),
                                        "session": RUN.model_copy(update={"failures": (failure,)})})
    found = session_of(replace(evidence, result=evidence.result.model_copy(update={"samples": (changed,)})))
    assert found is not None
    assert [step.picture.file for step in found.steps if step.picture] == [artifact.file]


def test_a_changed_file_is_found_out(tmp_path: Path) -> None:
    evidence = make_session(tmp_path)
    (evidence.directory / "replay.webm").write_bytes(b"another")
    with pytest.raises(EvidenceAltered, match=r"replay\.webm"):
        render_html(evidence)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"log": {"entries": 3}}', b'{"log": {"entries": [3, {}]}}',
                                 b'{"log": {"entries": [{"request": 1, "response": {"content": []}, "time": "x"}]}}',
                                 b"[" * 100_000])
def test_a_har_that_is_none_gives_no_requests(raw: bytes) -> None:
    assert all(set(row) == {""} for row in requests_of(raw).rows)


def test_the_first_hundred_requests(evidence: Evidence) -> None:
    found = session_of(evidence)
    assert found is not None
    assert (len(found.requests.rows), found.requests.more) == (100, len(har()["log"]["entries"]) - 100)
    assert found.requests.rows[0] == ("GET", "http://127.0.0.1:8801/0", "200", "text/html", "2 KiB", "12 ms")
    assert found.requests.rows[2][2] == "failed"


def test_an_incident_that_cannot_be_read_leaves_out_its_tables(tmp_path: Path) -> None:
    found = session_of(make_session(tmp_path, incident={**INCIDENT, "api_faults": 3}))
    assert found is not None
    assert found.api_faults.rows == found.state_faults.rows == ()


@pytest.mark.parametrize("left", [0, 1])
def test_a_session_of_which_no_run_was_finished_is_a_session_all_the_same(evidence: Evidence, left: int) -> None:
    """What the application printed is then all there is to see."""
    samples = tuple(sample.model_copy(update={"session": None}) for sample in evidence.result.samples[:left])
    page = render_html(replace(evidence, result=evidence.result.model_copy(update={"samples": samples})))
    text = " ".join(text_of(page).split())
    assert problems(page) == []
    assert "The claim" not in text
    assert "No step was taken." in text
    assert "the driver said nothing" in text
    assert page.count('of the application"') == 2 * left


def test_states_that_the_evidence_can_name_all_have_words(page: str) -> None:
    assert len(re.findall(r'<tr id="failure-[0-9]+"', page)) == len(VERDICTS)


def test_another_payload_than_the_recorded_one_is_said(evidence: Evidence) -> None:
    """A repaired application is one, and being told that it is repaired is what replays are for."""
    changed = evidence.result.model_copy(update={"fingerprint_mode": "changed"})
    text = " ".join(text_of(render_html(replace(evidence, result=changed))).split())
    assert "another than recorded" in text
    assert "this is another payload than the recorded one" in text
