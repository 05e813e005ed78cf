"""The page of a load run: what is on it, what leads where, and what is left out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stored_loads import ASSERTIONS, JOURNEYS, METRICS, OBSERVATIONS, TIMELINE, make_load
from stored_runs import make_evidence
from strict_html import document, problems

from runner.errors import EvidenceAltered
from runner.evidence.check import Evidence
from runner.reports.html import render_html
from runner.reports.html.load.looks import fixture_of, observations_of
from runner.reports.html.load.read import load_of


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_load(tmp_path_factory.mktemp("load"))


@pytest.fixture(scope="module")
def page(evidence: Evidence) -> str:
    return render_html(evidence)


def _with(evidence: Evidence, **fields: Any) -> str:
    """The page of another result."""
    return render_html(replace(evidence, result=evidence.result.model_copy(update=fields)))


def _said(page: str) -> str:
    """All text, with a blank between elements."""
    return " ".join(" ".join(document(page).find("body").itertext()).split())


def test_it_parses_strictly(page: str) -> None:
    assert problems(page) == []


def test_every_link_leads_somewhere_and_no_anchor_is_there_twice(page: str) -> None:
    nodes = list(document(page).iter())
    anchors = [node.attrib["id"] for node in nodes if "id" in node.attrib]
    links = {node.attrib["href"].removeprefix("#") for node in nodes if "href" in node.attrib}
    assert len(anchors) == len(set(anchors))
    assert links <= set(anchors)
    assert {"assertions", "load", "latency", "journeys", "operations", "budgets", "observations"} <= links


@pytest.mark.parametrize("words", [
    "FAIL 1 of 4 assertions hold, 239 of 240 journeys.", "Load run", "Failed requests 3.49 %", "p95 184 ms",
    "✕ failed coupon-limit-held 4 of 239 samples failed First that failed logical key run_1-traffic-1",
    'traffic-1, expected {"used": 10}, actual {"used": 11}, detail one coupon too many',
    "! unknown order-paid-once partial: 236 of 239 journeys", "✓ holds answer-known",
    'Expected {"/stock/left": {"gte": 0}} Seen {"/stock/left": -3}', "1 journey of 240 was dropped",
    "the fixture was not removed: DELETE /shops/shop-17 answered 500", "peak 7; allowed 8",
    "coupon_redeemed 201 84.1 %", "after cart_filled 35 14.6 %", "redeem 40 16.7 %", "redeem 239 48.0 ms 402 ms",
    "45 of 1,289 (3.49 %); 3 of them without an answer", "Time 93.4 s 112.0 s 210.0 s 44.5 %",
    "Writes 480 exceeded 722 470 102 %", "rush 30 s 30 s 6 180", "stock-consistent differs /stock/left",
    "GET /orders: the answer was 500, not 200", "5 tries in 4.020 s", "cleanup reason DELETE /shops/shop-17",
    "Something that was made is still there.", "python3 server.py --careless", "k6 v1.1.0", "iterations......: 239",
    "reading the ledger", "typo-in-name: 4 times in the evidence", "stages that are not declared: surprise",
    "Overlap is what k6 saw.", "scenario_sha256", "runner verify checkout --payload ledger"])
def test_it_says(page: str, words: str) -> None:
    assert words in _said(page)


def test_what_failed_comes_first(evidence: Evidence) -> None:
    found = load_of(evidence)
    assert found is not None
    assert [row.mark for row in found.assertions] == ["bad", "bad", "warn", "good"]


def test_the_numbers_are_there_without_plots(page: str) -> None:
    """Averages of two steps a row, of ninety."""
    tables = [node for node in document(page).iter("table") if node.attrib.get("class") == "figures"]
    rows = [[cell.text for cell in row] for row in tables[0].iter("tr")]
    assert rows[:2] == [["From", "Planned / s", "Started / s", "In flight", "Requests / s", "Failed / s"],
                        ["-1 s", "1", "1", "0.31", "5.5", "0"]]
    assert len(rows) == 46
    assert rows[16] == ["29 s", "6", "6", "1.86", "30.5", "0"]


def test_other_evidence_has_none_of_it(tmp_path: Path) -> None:
    evidence = make_evidence(tmp_path)
    page = render_html(evidence)
    assert load_of(evidence) is None
    assert "Load over time" not in page
    assert "The claim" in page


@pytest.mark.parametrize(("timeline", "metrics", "words"), [
    (b"", METRICS, "timeline.json is not there, or not as it should be"),
    (b"{", METRICS, "timeline.json is not there, or not as it should be"),
    ({**TIMELINE, "planned": []}, {**METRICS, "http_reqs": 0.0}, "no request was sent")])
def test_without_a_timeline_there_are_no_plots_and_a_note(tmp_path: Path, timeline: object, metrics: dict[str, Any],
                                                          words: str) -> None:
    page = render_html(make_load(tmp_path, timeline=timeline, metrics=metrics))
    assert problems(page) == []
    assert 'class="area"' not in page
    assert words in _said(page)
    assert "redeem 239 48.0 ms" in _said(page)


def test_a_run_that_came_to_nothing(evidence: Evidence) -> None:
    fields = dict.fromkeys(("assertions", "metrics", "journeys", "limitations", "notes", "completeness", "lifecycle"))
    page = _with(evidence, verdict="error", samples=(), **fields)
    assert problems(page) == []
    assert "ERROR 0 of 0 assertions hold" in _said(page)
    assert "Nothing is known of any" in _said(page)


@pytest.mark.parametrize(("verdict", "kind"), [("pass", "pass"), ("inconclusive", "inconclusive"), ("error", "error")])
def test_each_verdict_has_its_head(evidence: Evidence, verdict: str, kind: str) -> None:
    page = _with(evidence, verdict=verdict)
    assert problems(page) == []
    assert f'<header class="top {kind}">' in page


def test_no_more_than_nine_operations_are_drawn(tmp_path: Path) -> None:
    one = TIMELINE["operations"]["browse"]
    timeline = {**TIMELINE, "operations": {f"op{number}": one for number in range(12)}}
    page = render_html(make_load(tmp_path, timeline=timeline))
    assert page.count('class="area"') == 3 + 9
    assert "3 more operations are not drawn" in _said(page)


def test_an_allowance_far_above_is_told_and_not_drawn(evidence: Evidence) -> None:
    load = evidence.result.load
    assert load is not None
    page = _with(evidence, load=load.model_copy(update={"budgets": {**load.budgets, "max_in_flight": 5000}}))
    assert "allowed 5,000." in _said(page)
    assert page.count('<path class="plan"') == 2, "the schedule, and its key"


@pytest.mark.parametrize("name", ["timeline.json", "observation.json", "fixture.json", "engine.stdout.log"])
def test_a_changed_file_is_found_out(tmp_path: Path, name: str) -> None:
    evidence = make_load(tmp_path)
    (evidence.directory / name).write_bytes(b"another")
    with pytest.raises(EvidenceAltered, match=name.replace(".", r"\.")):
        render_html(evidence)


ODD = [b"", b"{", b"[3]", b"3", b"null", b'"text"', b'{"assertion": 3}', b'[{"checks": {"/a": 3}}]', b"[" * 100_000,
       b'{"setup": 3}', b'{"setup": {"argv": [[]]}}', b'[{"attempts": "x", "elapsed_seconds": NaN}]']


@pytest.mark.parametrize("raw", ODD)
def test_documents_that_are_odd_do_no_harm(tmp_path: Path, raw: bytes) -> None:
    assert len(observations_of(raw).rows) <= 1
    assert len(fixture_of(raw).rows) <= 1
    assert problems(render_html(make_load(tmp_path, files={"observation.json": raw, "fixture.json": raw}))) == []


@pytest.mark.parametrize("metrics", [
    *(dict.fromkeys(METRICS, value) for value in ("text", None, [1], {"samples": "x", "p50": {}}, True, -1, 1e300)),
    {"by_operation": {"a": 3, "b": {"samples": 1, "failed_rate": "x"}}}])
def test_metrics_that_are_odd_do_no_harm(evidence: Evidence, metrics: dict[str, Any]) -> None:
    assert problems(_with(evidence, metrics=metrics)) == []


@pytest.mark.parametrize("journeys", [{"a": 3}, {"a": {"stages": 3, "stalled": [3]}}, {"a": {"stages": [{"name": 3}]}},
                                      {"a": {**JOURNEYS["checkout"], "started": 0}}])
def test_journeys_that_are_odd_do_no_harm(evidence: Evidence, journeys: dict[str, Any]) -> None:
    assert problems(_with(evidence, journeys=journeys)) == []


def test_lists_are_bounded(tmp_path: Path) -> None:
    many = tuple(ASSERTIONS[0].model_copy(update={"id": f"assertion-{number}"}) for number in range(1000))
    looks = json.dumps(OBSERVATIONS * 500).encode()
    page = _said(render_html(make_load(tmp_path, assertions=many, files={"observation.json": looks})))
    assert "800 more are not shown" in page
    assert "1300 more are not shown" in page


def test_an_application_elsewhere_has_no_copy_and_no_image(evidence: Evidence) -> None:
    load = evidence.result.load
    assert load is not None
    page = _with(evidence, payload="", image=None, load=load.model_copy(update={"target_command": None}))
    for words in ("none: the application ran elsewhere", "No copy of a payload was used.", "Application ran elsewhere",
                  "Where the scenario is, and the application runs"):
        assert words in _said(page)
    assert "out.log" not in page[page.index('id="changes"'):page.index('id="artifacts"')]


def test_the_memory_of_the_driver_is_measured_by_its_own_policy(evidence: Evidence) -> None:
    load = evidence.result.load
    assert load is not None
    policy = load.driver_policy.model_copy(update={"effective": {**load.driver_policy.effective, "memory": 3 << 30}})
    page = _with(evidence, load=load.model_copy(update={"driver_policy": policy}))
    assert "against the 3 GiB that the policy allows" in _said(page)
