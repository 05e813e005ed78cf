"""``runner report validate``: ReproMin's fields with ReproMin's meanings, and the like for native reports."""

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from repomin_reports import DROP, certified, edited, sample, sample_path

from runner.cli.report_files import check_file
from runner.reports.claims.summary import safe_version, summarise, summary_json, summary_markdown, summary_text
from runner.sources.load import load_report, parse_report

NATIVE = Path(__file__).parents[1] / "data" / "native"
PAYLOAD_FIELDS = {"payload", "payload_checked", "payload_fingerprint_mode", "payload_fingerprint_verified"}


def parsed(document, path="report.json"):
    return parse_report(json.dumps(document).encode(), path=path)


def of(document):
    return summarise(parsed(document))


def expected(letter, **fields):
    return {"valid": True, "summary_schema_version": 2, "schema_version": 1, "repomin_version": "0.1.0.dev7",
            "holdout_status": "not_requested", "holdout_planned_runs": 0, "holdout_completed_runs": 0,
            "holdout_passes": 0, "holdout_exact_rate_gate_passed": None, "attempts": 3, "accepted_mutations": 1,
            "cache_hits": 0, "budget_exhausted": False, "report": str(sample_path(letter).resolve())} | fields


@pytest.mark.parametrize(("letter", "fields"), [
    ("a", {"backend": "host", "oracle_mode": "match_and_exit_code", "source_files": 5, "source_bytes": 900,
           "output_files": 2, "output_bytes": 256, "files_removed": 3, "bytes_removed": 644,
           "file_retention_ratio": 0.4, "byte_retention_ratio": 0.284444}),
    ("b", {"backend": "host", "oracle_mode": "python_exception", "source_files": 9, "source_bytes": 2400,
           "output_files": 3, "output_bytes": 305, "files_removed": 6, "bytes_removed": 2095,
           "file_retention_ratio": 0.333333, "byte_retention_ratio": 0.127083}),
    ("c", {"backend": "host", "oracle_mode": "match", "source_files": 4, "source_bytes": 500, "output_files": 2,
           "output_bytes": 102, "files_removed": 2, "bytes_removed": 398, "file_retention_ratio": 0.5,
           "byte_retention_ratio": 0.204, "repomin_version": None, "attempts": 2}),
    ("d", {"backend": "docker", "oracle_mode": "match_and_exit_code", "source_files": 6, "source_bytes": 1800,
           "output_files": 1, "output_bytes": 165, "files_removed": 5, "bytes_removed": 1635,
           "file_retention_ratio": 0.166667, "byte_retention_ratio": 0.091667})])
def test_every_field_of_every_sample(letter, fields):
    assert summarise(load_report(sample_path(letter))) == expected(letter, **fields)


@pytest.mark.parametrize(("letter", "mode"), [("a", "content"), ("b", "content"), ("c", "unavailable")])
def test_a_payload_adds_four_fields(letter, mode):
    payload = str(sample_path(letter).parent).removesuffix(".repomin")
    report, match, name = check_file(str(sample_path(letter)), payload)
    with_it = summarise(report, name, match)
    assert with_it.keys() - summarise(report).keys() == PAYLOAD_FIELDS
    assert with_it["payload"] == str(Path(payload).resolve())
    assert (with_it["payload_checked"], with_it["payload_fingerprint_mode"]) == (True, mode)
    assert with_it["payload_fingerprint_verified"] is (mode != "unavailable")


def test_the_holdout_is_copied_with_its_gate():
    summary = of(certified())
    assert [summary[f"holdout_{name}"] for name in ("status", "planned_runs", "completed_runs", "passes",
                                                    "exact_rate_gate_passed")] == ["certified", 3, 3, 2, False]


@pytest.mark.parametrize(("changes", "mode"), [
    ({"failure_match": "", "failure_spec__match": ""}, "match_and_exit_code"),
    ({"failure_match": None, "failure_spec__match": None}, "exit_code"),
    ({"failure_spec__exit_code": None}, "match"),
    ({"failure_spec": DROP, "failure_match": None}, "legacy"),
    ({"failure_spec": DROP, "failure_match": DROP}, "legacy"),
    ({"failure_spec": DROP, "process_failure_signature": {"kind": "posix_signal", "code": 11}}, "process_failure"),
    ({"failure_spec": DROP, "java_exception_signature": {"class": "E", "message": "", "frames": ["f"]}},
     "java_exception")])
def test_the_words_for_an_oracle(changes, mode):
    assert of(edited(sample("a"), **changes))["oracle_mode"] == mode


@pytest.mark.parametrize(("text", "kept"), [
    ("0.1.0", True), ("1.2.3rc1+x_y-z", True), ("1.2", False), ("v1.2.3", False), ("1.2.3 rm -rf", False),
    ("1.2.3\n", False), ("1.2.3<script>", False), ("1.2.3" + "a" * 123, True), ("1.2.3" + "a" * 124, False),
    ("\u0661.2.3", False)])
def test_only_what_looks_like_a_version_is_one(text, kept):
    assert safe_version(text) == (text if kept else None)
    assert of(edited(sample("a"), repomin_version=text))["repomin_version"] == (text if kept else None)


@pytest.mark.parametrize(("source", "output", "ratio"), [(0, 0, None), (3, 1, 0.333333), (1, 2, 2.0),
                                                         (10**400, 1, None), (1, 10**400, None)])
def test_ratios_have_six_decimals_or_are_null(source, output, ratio):
    summary = of(edited(sample("c"), source__files=source, output__files=output))
    assert (summary["file_retention_ratio"], summary["files_removed"]) == (ratio, source - output)
    json.loads(summary_json(summary))
    assert len(summary_text(summary)) < 5_000


def test_a_native_report_has_a_summary_of_its_own():
    summary = summarise(load_report(NATIVE / "docker-shell.json"))
    assert summary == {
        "valid": True, "summary_schema_version": 1, "schema_version": "runner.report/1", "kind": "command",
        "tool_version": "0.1.0", "created": "2026-11-30T12:00:00Z", "backend": "docker",
        "oracle_mode": "match_and_exit_code", "files": 2, "bytes": 256, "entries": 4, "environment_names": 2,
        "artifacts": 0, "timeout_seconds": 20.0, "baseline_runs": 3, "baseline_matched": 3, "baseline_exit_code": 7,
        "report": str((NATIVE / "docker-shell.json").resolve())}


def table(markdown):
    """Rows of the only table, as another reader of Markdown sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    cells = [token.content for token in tokens if token.type == "inline"][2:]
    return dict(zip(cells[2::2], cells[3::2], strict=True))


def test_markdown_is_a_fixed_list_without_paths(tmp_path):
    secret = tmp_path / "secret|name.json"
    secret.write_bytes(sample_path("a").read_bytes())
    payload = str(sample_path("a").parent).removesuffix(".repomin")
    report, match, _ = check_file(str(secret), payload)
    summary = summarise(report, payload, match)
    markdown = summary_markdown(summary)
    rows = table(markdown)
    assert {name.strip("`") for name in rows} == summary.keys() - {"report", "payload"}
    assert rows["`byte_retention_ratio`"] == "`0.284444`"
    assert "secret" not in markdown
    assert payload not in markdown


def test_nothing_the_author_wrote_is_in_a_summary():
    marked = edited(sample("d"), command="MARK", failure_match="MARK", failure_spec__match="MARK",
                    execution__environment_names=["MARK"], execution__image="MARK", repomin_version="MARK",
                    execution__working_directory_basename="MARK", events__0__description="MARK")
    summary = of(marked)
    for text in (summary_json(summary), summary_text(summary), summary_markdown(summary)):
        assert "MARK" not in text


def test_text_is_safe_for_a_hostile_path():
    text = summary_text(summarise(parsed(sample("a"), path="/tmp/\x1b[2J\nVALID")))
    assert "\x1b" not in text
    assert text.count("VALID") == 2
    assert text.count("\nVALID") == 0
