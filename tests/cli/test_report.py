"""``runner report`` as a person or a script meets it."""

import io
import json
import os
import shutil
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from stored_runs import FAILS, PASSES, make_evidence

from runner.bundle.pack import pack
from runner.cli.main import main
from runner.payload.seal import DEFAULT_LIMITS, seal

SAMPLES = Path(__file__).parents[1] / "data" / "repomin"
REPORT = SAMPLES / "a-exit-and-match" / "ledger-repro.repomin" / "report.json"
PAYLOAD = SAMPLES / "a-exit-and-match" / "ledger-repro"
NATIVE = Path(__file__).parents[1] / "data" / "native"


@dataclass
class Done:
    """What the program did."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(autouse=True)
def no_engine(monkeypatch):
    """Nothing here may need one."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")


def runner(*words):
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        main(["report", *map(str, words)])
    return Done(end.value.code, out.getvalue(), err.getvalue())


def test_a_valid_report_exits_0():
    done = runner("validate", REPORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("VALID: ReproMin report, schema version 1\n")


def test_json_is_one_sorted_line_by_either_name():
    done = runner("validate", REPORT, "--payload", PAYLOAD, "--json")
    assert done.stdout == json.dumps(json.loads(done.stdout), sort_keys=True) + "\n"
    assert json.loads(done.stdout)["payload_fingerprint_mode"] == "content"
    assert runner("validate", REPORT, "--payload", PAYLOAD, "--format", "json").stdout == done.stdout
    assert runner("validate", REPORT, "--json", "--format", "md").returncode == 2


def test_markdown_is_spelled_in_two_ways():
    done = runner("validate", REPORT, "--format", "md")
    assert done.stdout.startswith("# Report validation\n")
    assert runner("validate", REPORT, "--format", "markdown").stdout == done.stdout
    assert str(REPORT.parent) not in done.stdout


@pytest.mark.parametrize(("edit", "said"), [
    (lambda text: text.replace('"schema_version": 1', '"schema_version": 2'), "schema_version"),
    (lambda text: text[:-5], "is not JSON"), (lambda text: "\ufeff" + text, "byte order mark"),
    (lambda text: text.replace('"jobs": 1', '"jobs": true'), "execution.jobs"), (lambda _: "[" * 200, "deeper")])
def test_an_invalid_report_is_one_line_and_exits_2(tmp_path, edit, said):
    bad = tmp_path / "report.json"
    bad.write_text(edit(REPORT.read_text(encoding="utf-8")), encoding="utf-8")
    done = runner("validate", bad)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
    for words in (["--json"], ["--format", "json"]):
        told = runner("validate", bad, *words)
        assert (told.returncode, json.loads(told.stdout)["ok"], json.loads(told.stdout)["code"]) == (2, False, "report")
    assert runner("show", bad).returncode == 2


@pytest.mark.parametrize(("change", "code"), [
    (lambda root: (root / "data" / "amounts.txt").write_text("other"), "payload_mismatch"),
    (lambda root: (root / "more").write_text("x"), "payload_mismatch"),
    (lambda root: (root / "pipe").unlink(missing_ok=True) or os.mkfifo(root / "pipe"), "payload_refused"),
    (lambda root: os.symlink("/etc", root / "out"), "payload_refused"),
    (shutil.rmtree, "payload_refused")])
def test_a_payload_that_is_not_the_one_exits_2(tmp_path, change, code):
    payload = shutil.copytree(PAYLOAD, tmp_path / "payload", symlinks=True)
    change(payload)
    done = runner("validate", REPORT, "--payload", payload, "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, code)


def test_the_payload_is_only_read(tmp_path):
    payload = shutil.copytree(PAYLOAD, tmp_path / "payload", symlinks=True)
    def facts():
        """All but access times, which reading a link sets."""
        return {path: (status.st_mode, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                for path in payload.rglob("*") for status in [os.lstat(path)]}

    before = facts()
    assert runner("validate", REPORT, "--payload", payload).returncode == 0
    assert facts() == before


def test_an_ambiguous_legacy_report_is_valid_and_can_be_shown(tmp_path):
    """ReproMin says so too; only a replay needs to know what to expect."""
    document = json.loads((SAMPLES / "c-legacy" / "config-repro.repomin" / "report.json").read_text())
    legacy = tmp_path / "report.json"
    legacy.write_text(json.dumps(document | {"failure_match": None}))
    assert json.loads(runner("validate", legacy, "--json").stdout)["oracle_mode"] == "legacy"
    assert "a replay needs --exit-code" in runner("show", legacy).stdout


def test_show_in_three_formats():
    text, document, markdown = (runner("show", REPORT, "--format", form).stdout for form in ("text", "json", "md"))
    assert "match        LEDGER_MISMATCH" in text
    assert json.loads(document)["expects"]["exit_code"] == 7
    assert "- match: `LEDGER_MISMATCH" in markdown


def test_compare_labels_and_formats():
    reports = [REPORT, NATIVE / "docker-java.json"]
    done = runner("compare", *reports, "--label", "old", "--label", "new", "--format", "json")
    document = json.loads(done.stdout)
    assert (done.returncode, [run["label"] for run in document["runs"]]) == (0, ["old", "new"])
    assert runner("compare", *reports).stdout.startswith("2 reports, descriptive only")
    assert runner("compare", *reports, "--format", "md").stdout.startswith("# Comparison of reports\n")


@pytest.mark.parametrize("words", [[REPORT], [REPORT] * 33, [REPORT, REPORT, "--label", "a"],
                                   [REPORT, REPORT, "--label", "a", "--label", "a"], []])
def test_compare_refuses(words):
    done = runner("compare", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_an_error_of_compare_does_not_name_the_file(tmp_path):
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    done = runner("compare", REPORT, secret)
    assert done.returncode == 2
    assert "report 2: is no report of a known format" in done.stderr
    assert "secret" not in done.stderr
    assert "secret" not in runner("compare", REPORT, tmp_path / "secret-is-missing").stderr


def test_diff_of_reports(tmp_path):
    other = tmp_path / "report.json"
    other.write_text(REPORT.read_text().replace('"exit_code": 7', '"exit_code": 8'))
    done = runner("diff", REPORT, other)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "DIFFERENT: expects")
    assert "  - exit_code: 7\n  + exit_code: 8" in done.stdout
    assert runner("diff", REPORT, other, "--exit-code").returncode == 1
    assert runner("diff", REPORT, REPORT, "--exit-code").returncode == 0
    assert json.loads(runner("diff", REPORT, other, "--format", "json").stdout)["different"] == ["expects"]


@pytest.fixture(scope="module")
def bundle(runs):
    """A bundle of the report and payload that the first run replayed."""
    place = runs[0].parent
    path = place / "bug.repro"
    pack((place / "report.json").read_bytes(), seal(str(place / "ledger"), DEFAULT_LIMITS), path,
         report_path="report.json")
    return path


def test_of_a_bundle_the_payload_is_checked_too(bundle):
    document = json.loads(runner("validate", bundle, "--json").stdout)
    assert (document["payload_checked"], document["payload_fingerprint_mode"]) == (True, "exact")
    assert (document["payload"], document["report"]) == (str(bundle), str(bundle))
    refused = runner("validate", bundle, "--payload", bundle.parent / "ledger")
    assert (refused.returncode, "brings its own payload" in refused.stderr) == (2, True)


def test_a_bundle_is_a_report_everywhere(bundle):
    report = bundle.parent / "report.json"
    assert "python3 check.py" in runner("show", bundle).stdout
    assert runner("diff", bundle, report).stdout.splitlines()[0] == "SAME: the reports claim the same"
    assert json.loads(runner("compare", bundle, report, "--format", "json").stdout)["context_warnings"] == []


@pytest.mark.parametrize("cut", [100, -20])
def test_a_broken_bundle_exits_2(bundle, tmp_path, cut):
    broken = tmp_path / "bug.repro"
    broken.write_bytes(bundle.read_bytes()[:cut])
    done = runner("validate", broken, "--json")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, "bundle_refused")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    return [make_evidence(place / name, script).directory for name, script in (
        ("a", (FAILS, FAILS)), ("b", (FAILS, PASSES)))]


def test_diff_of_run_directories(runs):
    done = runner("diff", *runs)
    assert done.returncode == 0
    assert "- verdict: reproduced\n  + verdict: not_reproduced" in done.stdout
    assert runner("diff", *runs, "--exit-code").returncode == 1
    assert runner("diff", runs[0], runs[0], "--exit-code").returncode == 0
    assert json.loads(runner("diff", *runs, "--format", "json").stdout)["kind"] == "runs"
    assert "## Outcomes" in runner("diff", *runs, "--format", "md").stdout


def test_altered_evidence_is_refused(runs, tmp_path):
    altered = shutil.copytree(runs[0], tmp_path / "run")
    (altered / "stdout-1.bin").write_bytes(b"reading the budget\n")
    done = runner("diff", runs[0], altered)
    assert (done.returncode, done.stdout) == (2, "")
    assert "stdout-1.bin" in done.stderr


def test_diff_refuses_what_does_not_go_together(runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = runner("diff", REPORT, runs[0])
    assert done.returncode == 2
    assert "compare two reports, or two runs" in done.stderr
    missing = runner("diff", "run_20260101", "latest")
    assert (missing.returncode, missing.stdout, missing.stderr.count("\n")) == (2, "", 1)
