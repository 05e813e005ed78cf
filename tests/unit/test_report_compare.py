"""``runner report compare``: ReproMin's rules, and nothing private in what can be shared."""

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from repomin_reports import DROP, certified, edited, sample, sample_path

from runner.errors import UsageError
from runner.reports.compare.context import context_of
from runner.reports.compare.rows import NUMERIC, compare, labels_for
from runner.reports.compare.text import comparison_json, comparison_markdown, comparison_text
from runner.sources.load import load_report, parse_report

NATIVE = Path(__file__).parents[1] / "data" / "native"
ROW = {"index": 1, "label": "run-1", "repomin_version": "0.1.0.dev7", "backend": "host",
       "oracle_mode": "match_and_exit_code", "source_files": 5, "source_bytes": 900, "output_files": 2,
       "output_bytes": 256, "file_retention_ratio": 0.4, "byte_retention_ratio": 0.284444, "attempts": 3,
       "accepted_mutations": 1, "cache_hits": 0, "budget_exhausted": False, "holdout_status": "not_requested",
       "holdout_planned_runs": 0, "holdout_completed_runs": 0, "holdout_passes": 0, "phase_coverage": "complete"}


def parsed(document):
    return parse_report(json.dumps(document).encode(), path="r.json")


def compared(*documents):
    reports = [parsed(document) if isinstance(document, dict) else load_report(document) for document in documents]
    return compare(reports, labels_for(len(reports), ()))


def warnings(**changes):
    return compared(sample("a"), edited(sample("a"), **changes))["context_warnings"]


def test_the_document():
    comparison = compared(*map(sample_path, "abc"))
    assert comparison.keys() == {"comparison_schema_version", "descriptive_only", "run_count", "runs", "deltas",
                                 "context_warnings"}
    assert (comparison["comparison_schema_version"], comparison["descriptive_only"], comparison["run_count"]) == (
        1, True, 3)
    assert comparison["runs"][0] == ROW
    assert [(delta["from_label"], delta["to_index"]) for delta in comparison["deltas"]] == [("run-1", 2), ("run-2", 3)]


def test_a_delta_is_later_minus_earlier():
    delta = compared(sample_path("a"), sample_path("c"))["deltas"][0]
    assert delta["numeric_deltas"] == {
        "source_files": -1, "source_bytes": -400, "output_files": 0, "output_bytes": -154,
        "file_retention_ratio": 0.1, "byte_retention_ratio": -0.080444, "attempts": -1, "accepted_mutations": 0,
        "cache_hits": 0, "holdout_planned_runs": 0, "holdout_completed_runs": 0, "holdout_passes": 0}
    assert delta["changed_fields"] == ["repomin_version", "oracle_mode", "phase_coverage"]


def test_a_report_and_itself_differ_in_nothing():
    delta, = compared(certified(), certified())["deltas"]
    assert set(delta["numeric_deltas"].values()) == {0}
    assert (delta["changed_fields"], compared(certified(), certified())["context_warnings"]) == ([], [])


@pytest.mark.parametrize(("left", "right", "delta"), [
    (0, 2**4096 - 1, 2**4096 - 1), (0, 2**4096, None), (2**4096, 0, None), (10**4000, 10**4000, 0)])
def test_a_huge_delta_is_null(left, right, delta):
    pair = [edited(sample("c"), source__bytes=value) for value in (left, right)]
    comparison = compared(*pair)
    assert comparison["deltas"][0]["numeric_deltas"]["source_bytes"] == delta
    json.loads(comparison_json(comparison))
    assert len(comparison_text(comparison)) < 10_000


def test_no_ratio_no_delta():
    comparison = compared(sample("c"), edited(sample("c"), source__files=0))
    assert comparison["deltas"][0]["numeric_deltas"]["file_retention_ratio"] is None
    assert comparison["runs"][1]["file_retention_ratio"] is None
    assert "at least one report has no retention ratio, since its source was empty" in comparison["context_warnings"]


@pytest.mark.parametrize(("count", "given", "said"), [
    (1, (), "expected 2 to 32"), (33, (), "expected 2 to 32"), (2, ("a",), "1 labels for 2"), (2, ("a", "a"), "same"),
    (2, ("a", "-b"), "--label"), (2, ("a", "b" * 65), "--label"), (2, ("a", ""), "--label"),
    (2, ("a", "b\n"), "--label"), (2, ("a", "é"), "--label"), (2, ("a", "\x1b[2J"), r"\\x1b")])
def test_labels_that_are_none(count, given, said):
    with pytest.raises(UsageError, match=said):
        labels_for(count, given)


def test_labels():
    assert labels_for(2, ("A.b-c_1", "b" * 64)) == ("A.b-c_1", "b" * 64)
    assert labels_for(32, ())[31] == "run-32"


@pytest.mark.parametrize(("changes", "word"), [
    ({"source__files": 6}, "sources differ"), ({"execution__ignored_names": ["x"]}, "select the input"),
    ({"execution__keep_paths": ["x"]}, "select the input"), ({"repomin_version": "0.2.0"}, "versions"),
    ({"repomin_version": "what?"}, "does not say which version"), ({"execution__backend": "docker"}, "backends"),
    ({"execution__jobs": 2}, "parallel jobs"), ({"execution__timeout_seconds": 21}, "timeouts"),
    ({"execution__timeout_seconds": DROP}, "timeouts"), ({"execution__cache_enabled": False}, "cache"),
    ({"execution__max_attempts": 5}, "budgets"), ({"execution__max_duration_seconds": 5}, "budgets"),
    ({"execution__semantic_endpoint": "http://x"}, "semantic"), ({"execution__semantic_model": "m"}, "semantic"),
    ({"execution__image": "x"}, "container"), ({"execution__limits": {"pids": 3}}, "container"),
    ({"execution__network": "host"}, "container"), ({"execution__environment_names": ["A"]}, "environments"),
    ({"execution__environment_sha256": "0" * 64}, "environments"),
    ({"execution__working_directory_basename": "x"}, "working directories"),
    ({"execution__resumed": True}, "resumed"), ({"execution__budget_exhausted": True}, "used up a budget"),
    ({"failure_spec__exit_code": None}, "kinds of oracle"), ({"failure_spec__exit_code": 8}, "what they expect"),
    ({"failure_match": "x", "failure_spec__match": "x"}, "what they expect"), ({"failure_spec": DROP}, "they expect"),
    ({"execution__confidence": 0.9}, "sampling of candidates"), ({"execution__candidate_runs": 9}, "candidates"),
    ({"execution__baseline_runs": 9}, "baselines"), ({"execution__min_baseline_rate": 0.5}, "baselines"),
    ({"execution__reduction_strategy": "x"}, "strategies"), ({"holdout_certification__policy": "x"}, "policies"),
    ({"holdout_certification__status": "not_started"}, "holdout states"),
    ({"holdout_certification__cache_used": True}, "controlled"),
    ({"holdout_certification__early_stopping": True}, "controlled"),
    ({"phase_statistics__coverage": "partial"}, "coverage"), ({"phase_statistics__coverage": "partial"}, "partial"),
    ({"phase_statistics__phases__0__phase": "x"}, "phases differ")])
def test_each_setting_that_differs_is_a_warning(changes, word):
    assert [text for text in warnings(**changes) if word in text] != []


def test_null_and_missing_are_the_same_setting():
    assert warnings(execution__semantic_model=DROP, execution__keep_paths=[]) == []


def test_settings_are_compared_and_never_shown():
    secret = {"execution__image": "MARK/a", "execution__semantic_endpoint": "http://MARK", "command": "MARK",
              "execution__environment_names": ["MARK"], "execution__ignored_names": ["MARK"],
              "failure_match": "MARK", "failure_spec__match": "MARK", "phase_statistics__phases__0__phase": "MARK",
              "execution__working_directory_basename": "MARK", "repomin_version": "MARK"}
    comparison = compared(sample("a"), edited(sample("a"), **secret))
    for render in (comparison_json, comparison_text, comparison_markdown):
        assert "MARK" not in render(comparison)


@pytest.mark.parametrize("path", [sample_path("d"), NATIVE / "docker-shell.json"], ids=lambda path: path.name)
def test_settings_are_kept_as_digests_only(path):
    report = load_report(path)
    values = context_of(report, compared(path, path)["runs"][0]).values()
    assert {value for value in values if value is not None and not re.fullmatch("[0-9a-f]{64}", value)} == set()


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": [None, {"b": "\ud800"}]}, 10**4000])
def test_settings_of_any_shape_can_be_compared(value):
    document = edited(sample("a"), execution__confidence=value)
    assert compared(document, document)["context_warnings"] == []
    assert len(warnings(execution__confidence=value)) == 1


def test_native_reports_count_as_unreduced():
    comparison = compared(NATIVE / "docker-shell.json", NATIVE / "docker-java.json")
    run = comparison["runs"][0]
    assert run.keys() == ROW.keys()
    assert (run["source_files"], run["output_files"], run["file_retention_ratio"]) == (2, 2, 1.0)
    assert comparison["context_warnings"] == [
        "the environments differ in names or values", "the kinds of oracle differ",
        "the oracles differ in what they expect"]


def test_a_mixed_pair_is_told():
    said = compared(NATIVE / "docker-shell.json", sample_path("a"))["context_warnings"]
    assert "of different formats" in said[0]
    assert not any("semantic" in text for text in said)


def test_text_and_markdown_hold_every_number():
    comparison = compared(*map(sample_path, "abcd"))
    text, markdown = comparison_text(comparison), comparison_markdown(comparison)
    for run in comparison["runs"]:
        for name in NUMERIC:
            shown = f"{run[name]:.6f}" if isinstance(run[name], float) else str(run[name])
            assert shown in text
            assert f"`{shown}`" in markdown
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    assert [token.type for token in tokens].count("tr_open") == 20
    for warning in comparison["context_warnings"]:
        assert f"warning  {warning}" in text
        assert f"- {warning}" in markdown
