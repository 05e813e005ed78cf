"""Exports of load runs: what each says of assertions and figures, asked of others' parsers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from export_validators import CHECKS, check_intoto, check_junit, check_markdown, check_sarif
from stored_loads import make_load

from runner.evidence.check import Evidence
from runner.reports.formats import FORMATS
from runner.reports.text import render_text

VERDICTS = ("pass", "fail", "inconclusive", "error")


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return make_load(tmp_path_factory.mktemp("load"))


def _with(evidence: Evidence, **fields: Any) -> Evidence:
    return replace(evidence, result=evidence.result.model_copy(update=fields))


def _ended(evidence: Evidence, verdict: str) -> Evidence:
    """The same run with another verdict, and with assertions that fit it."""
    status = {"pass": "pass", "fail": "fail"}.get(verdict, "unknown")
    rows = tuple(row.model_copy(update={"status": status}) for row in evidence.result.assertions or ())
    return _with(evidence, verdict=verdict, ok=verdict == "pass", assertions=rows)


@pytest.mark.parametrize("form", [*CHECKS])
@pytest.mark.parametrize("verdict", VERDICTS)
def test_every_verdict_is_exported_in_every_format(failed: Evidence, verdict: str, form: str) -> None:
    CHECKS[form](FORMATS[form].render(_ended(failed, verdict)))


@pytest.mark.parametrize(("verdict", "kinds"), [
    ("pass", {}), ("fail", {"answer-known": "Failure", "verdict": "Failure"}),
    ("inconclusive", {"answer-known": "Error", "verdict": "Error"}),
    ("error", {"answer-known": "Error", "verdict": "Error"})])
def test_junit(failed: Evidence, verdict: str, kinds: dict[str, str]) -> None:
    cases = {case.name: [type(each).__name__ for each in case.result]
             for case in check_junit(FORMATS["junit"].render(_ended(failed, verdict)))}
    assert list(cases) == ["run 1", "answer-known", "coupon-limit-held", "stock-consistent", "order-paid-once",
                           "verdict"]
    assert {name: found for name, found in cases.items() if name in ("answer-known", "verdict")} == {
        name: [kinds[name]] if kinds else [] for name in ("answer-known", "verdict")}


def test_junit_tells_of_samples(failed: Evidence) -> None:
    texts = {case.name: [each.text for each in case.result] for case in check_junit(FORMATS["junit"].render(failed))}
    assert texts["coupon-limit-held"][0].count("one coupon too many") == 3
    assert texts["stock-consistent"] == ['expected {"/stock/left": {"gte": 0}}, seen {"/stock/left": -3}']


def test_junit_has_the_output_of_application_and_driver_and_names_k6(failed: Evidence) -> None:
    text = FORMATS["junit"].render(failed)
    assert "reading the ledger\n-- the load driver --\nreading the ledger" in text
    assert '<property name="k6" value="k6 v1.1.0 (go1.24.4, linux/amd64)" />' in text


@pytest.mark.parametrize(("verdict", "result"), [
    ("pass", "PASSED"), ("fail", "FAILED"), ("inconclusive", "FAILED"), ("error", "FAILED")])
def test_intoto(failed: Evidence, verdict: str, result: str) -> None:
    """Its schema has no word for what is not known; PASSED is said of a pass alone."""
    predicate = check_intoto(FORMATS["in-toto"].render(_ended(failed, verdict)))["predicate"]
    assert predicate["result"] == result
    assert ("assertion answer-known" in predicate.get("passedTests", [])) == (verdict == "pass")


def test_intoto_is_about_scenario_payload_and_both_images(failed: Evidence) -> None:
    statement = check_intoto(FORMATS["in-toto"].render(failed))
    assert [subject["name"] for subject in statement["subject"]] == ["payload", "scenario", "image", "k6-image"]
    assert statement["subject"][1]["digest"] == {"sha256": "5e" * 32}
    assert statement["subject"][1]["annotations"]["scenario_sha256"] == "7c" * 32
    assert [one["name"] for one in statement["predicate"]["configuration"]] == ["policy", "k6-policy", "evidence"]
    elsewhere = check_intoto(FORMATS["in-toto"].render(_with(failed, payload="", image=None)))
    assert [subject["name"] for subject in elsewhere["subject"]] == ["scenario", "k6-image"]


@pytest.mark.parametrize(("verdict", "rules"), [
    ("pass", []), ("fail", ["RUN3001"] * 4), ("inconclusive", ["RUN1004"]), ("error", ["RUN1004"])])
def test_sarif(failed: Evidence, verdict: str, rules: list[str]) -> None:
    run = check_sarif(FORMATS["sarif"].render(_ended(failed, verdict)))
    assert [found["ruleId"] for found in run["results"]] == rules


def test_sarif_has_a_finding_for_a_failure_without_a_failed_assertion(failed: Evidence) -> None:
    """As when a threshold of the script was crossed."""
    crossed = _with(_ended(failed, "pass"), verdict="fail", reasons=("k6 says that a threshold was crossed (99)",))
    found, = check_sarif(FORMATS["sarif"].render(crossed))["results"]
    assert found["ruleId"] == "RUN3001"
    assert "a threshold was crossed" in found["message"]["text"]


def _cells(failed: Evidence, **fields: Any) -> list[list[str]]:
    page = check_markdown(FORMATS["md"].render(_with(failed, **fields)))
    return [[cell.text_content() for cell in row] for row in page.iter("tr")]


def test_markdown(failed: Evidence) -> None:
    rows = _cells(failed)
    assert rows[:4] == [["Assertion", "Status", "Samples", "Why"],
                        ["coupon-limit-held", "fail", "239", "4 of 239 samples failed"],
                        ["stock-consistent", "fail", "1", "the final state differs at /stock/left"],
                        ["order-paid-once", "unknown", "236", "partial: 236 of 239 journeys"]]
    for row in (["coupon-limit-held", "run_1-traffic-1", '{"used": 10}', '{"used": 11}', "one coupon too many"],
                ["stock-consistent", "final state", '{"/stock/left": {"gte": 0}}', '{"/stock/left": -3}', "empty"],
                ["schedule", "calm 30 s at 1/s, rush 30 s at 6/s, recovery 30 s at 1/s"],
                ["redeem", "239", "48", "402.1", "540", "611.9", "0.167364"],
                ["checkout", "cart_filled", "236", "35"], ["max_write_attempts", "480", "470"],
                ["k6", "k6 v1.1.0 (go1.24.4, linux/amd64)"]):
        assert row in rows


@pytest.mark.parametrize("fields", [
    {"metrics": {"by_operation": {"a": 3, "b": {"samples": []}}, "http_reqs": {"a": [1]}, "iterations": "x"}},
    {"journeys": {"a": 3, "b": {"stages": [3, {"name": 3}], "stalled": [{"after": []}]}}},
    {"metrics": None, "journeys": None, "assertions": None, "limitations": None, "completeness": None}])
def test_markdown_of_what_is_odd(failed: Evidence, fields: dict[str, Any]) -> None:
    assert ["k6", "k6 v1.1.0 (go1.24.4, linux/amd64)"] in _cells(failed, **fields)


def test_a_run_against_an_application_elsewhere(failed: Evidence) -> None:
    load = failed.result.load
    assert load is not None
    text = FORMATS["md"].render(_with(failed, payload="", load=load.model_copy(update={"target_command": None})))
    assert "no copy of a payload was used" in text
    assert "`runs elsewhere`" in text


def test_the_terminal(failed: Evidence) -> None:
    lines = render_text(failed.result, "/evidence").splitlines()
    assert lines[0] == "FAIL: 1 of 4 assertions hold, 239 of 240 journeys"
    for line in ("failed       coupon-limit-held: 4 of 239 samples failed", "holds        answer-known (239 samples)",
                 "requests     1289, 45 of them failed; p50 21.4 ms, p95 184.02 ms, p99 402.7 ms",
                 "why          the fixture was not removed: DELETE /shops/shop-17 answered 500"):
        assert line in lines
