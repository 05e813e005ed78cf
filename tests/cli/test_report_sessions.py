"""``runner report`` and ``runner runs`` with recorded browser sessions, as a person or a script meets them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from export_validators import check_markdown
from played_sessions import DATA, ITEMS, OTHER, REPORT, crashed, recorded, replayed, stored

from runner.cli.main import cli
from runner.evidence.check import Evidence

LOKI = DATA / "loki" / "crash"
NATIVE = DATA / "native"


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing here may need one; each test has a store of its own."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))


@pytest.fixture
def found(tmp_path: Path) -> Evidence:
    return recorded(tmp_path / "found", ITEMS, REPORT)


def runner(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def validated(*words: object) -> dict[str, object]:
    done = runner("report", "validate", *words, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    document: dict[str, object] = json.loads(done.stdout)
    assert done.stdout == json.dumps(document, sort_keys=True) + "\n"
    return document


@pytest.mark.parametrize("path", [LOKI, LOKI / "incident.json", DATA / "loki" / "race", *sorted(
    (DATA / "loki" / "extra").glob("*.json")), *sorted((DATA / "browser").glob("*"))], ids=lambda path: path.name)
def test_every_loki_incident_is_valid_and_shown(path: Path) -> None:
    summary = validated(path)
    assert (summary["valid"], summary["kind"], summary["evidence_checked"]) == (True, "session", False)
    assert str(summary["missing"]).startswith("no command of the application")
    assert runner("report", "validate", path).stdout.startswith("VALID: LOKI incident.json\n")
    shown = runner("report", "show", path)
    assert shown.exit_code == 0
    assert sum(line.startswith("failure ") for line in shown.stdout.splitlines()) == summary["failures"]


def test_the_crash_sample_in_numbers() -> None:
    summary = validated(LOKI)
    assert {name: summary[name] for name in ("browser", "persona", "seed", "mode", "steps", "failures",
                                             "grave_failures", "api_faults", "state_faults", "lanes")} == {
        "browser": "chromium", "persona": "RageClicker", "seed": 7, "mode": "trace", "steps": 8, "failures": 2,
        "grave_failures": 2, "api_faults": 0, "state_faults": 0, "lanes": 0}


def test_a_name_says_nothing_and_the_content_does(tmp_path: Path) -> None:
    shutil.copy(LOKI / "incident.json", tmp_path / "session.txt")
    assert validated(tmp_path / "session.txt")["kind"] == "session"


def test_our_own_recording_is_proved(found: Evidence) -> None:
    summary = validated(found.directory)
    assert (summary["schema_version"], summary["evidence_checked"], summary["missing"]) == (
        "runner.incident/1", True, "nothing")
    shown = runner("report", "show", found.directory).stdout
    assert "application  python3 app.py --port 8801\n" in shown
    assert "(first at step 0)" in shown
    assert "not said" not in shown


def test_a_run_is_named_by_its_id_or_as_latest(tmp_path: Path) -> None:
    done = recorded(tmp_path, ITEMS)
    place = tmp_path / "store" / "runs" / done.result.run_id
    shutil.copytree(done.directory, place)
    assert validated(done.result.run_id)["report"] == str(place)
    assert validated("latest")["report"] == str(place)


def test_a_payload_is_compared(found: Evidence, tmp_path: Path) -> None:
    payload = tmp_path / "found" / "shop"
    assert validated(found.directory, "--payload", payload)["payload_fingerprint_mode"] == "exact"
    os.utime(payload / "app.py", (1, 1))
    assert validated(found.directory, "--payload", payload)["payload_fingerprint_mode"] == "content"
    (payload / "app.py").write_text("repaired\n")
    done = runner("report", "validate", found.directory, "--payload", payload)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("runner: not the recorded payload: its content digest is ")
    summary = validated(LOKI, "--payload", payload)
    assert (summary["payload_fingerprint_mode"], summary["payload_fingerprint_verified"]) == ("unavailable", False)


@pytest.mark.parametrize("content", [
    b"{", b'{"replay_trace": 1}', b'{"replay_trace": [], "target_url": 1, "persona": 1}',
    b'{"replay_trace": [], "runner": {}}', b"\xff", b""])
def test_what_is_no_incident_is_refused_on_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "incident.json").write_bytes(content)
    for words in (("validate", tmp_path), ("show", tmp_path / "incident.json"), ("diff", tmp_path, tmp_path)):
        done = runner("report", *words)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), words
        assert "incident.json" in done.stderr


def test_a_directory_without_an_incident_is_told_what_it_lacks(tmp_path: Path) -> None:
    done = runner("report", "validate", tmp_path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{tmp_path}/incident.json" in done.stderr


def test_an_incident_beside_the_evidence_of_another_run_is_refused(found: Evidence, tmp_path: Path) -> None:
    replay = replayed(tmp_path / "again", [crashed(ITEMS, REPORT)])
    shutil.copy(found.directory / "incident.json", replay.directory)
    done = runner("report", "validate", replay.directory)
    assert done.exit_code == 2
    assert "incident.json is not the one that result.json names" in done.stderr


@pytest.mark.parametrize("form", ["md", "markdown"])
def test_markdown_is_for_sharing(form: str, found: Evidence) -> None:
    for word in ("validate", "show"):
        done = runner("report", word, found.directory, "--format", form)
        assert done.exit_code == 0
        check_markdown(done.stdout)
    assert str(found.directory) not in runner("report", "validate", found.directory, "--format", form).stdout


def test_two_incidents_are_compared_claim_by_claim(tmp_path: Path) -> None:
    document = json.loads((LOKI / "incident.json").read_text())
    document["replay_trace"][0]["selector"] = "#other"
    document["seed"] = 8
    (tmp_path / "incident.json").write_text(json.dumps(document))
    shutil.copy(LOKI / "network.har", tmp_path)  # it tells methods, which are part of what failed
    done = runner("report", "diff", LOKI, tmp_path / "incident.json", "--format", "json")
    difference = json.loads(done.stdout)
    assert (difference["kind"], difference["different"]) == ("reports", ["session", "trace"])
    assert difference["sections"]["trace"] == [{"key": "0", "a": "click #pay 5 times", "b": "click #other 5 times"}]
    assert runner("report", "diff", LOKI, LOKI / "incident.json", "--exit-code").exit_code == 0


def test_a_session_is_not_compared_with_another_kind_of_report(found: Evidence) -> None:
    report = next(NATIVE.rglob("*.json"))
    done = runner("report", "diff", LOKI / "incident.json", report)
    assert (done.exit_code, "one of the two is a browser session" in done.stderr) == (2, True)
    done = runner("report", "compare", LOKI / "incident.json", report)
    assert (done.exit_code, done.stderr.startswith("runner: report 1: a recorded browser session")) == (2, True)
    done = runner("report", "diff", LOKI / "incident.json", found.directory)
    assert (done.exit_code, "is a report and" in done.stderr) == (2, True)


def diffed(one: Evidence, other: Evidence) -> dict[str, object]:
    document: dict[str, object] = json.loads(
        runner("report", "diff", one.directory, other.directory, "--format", "json").stdout)
    return document


def test_two_replays_of_a_session_differ_in_failures_and_not_in_times(tmp_path: Path) -> None:
    one = replayed(tmp_path / "a", [crashed(ITEMS, REPORT)])
    slower = replayed(tmp_path / "b", [crashed(ITEMS, REPORT, duration_ms=9_999.0)])
    partly = replayed(tmp_path / "c", [crashed(ITEMS, OTHER)])
    assert diffed(one, slower)["same"] is True
    found = diffed(one, partly)
    assert found["different"] == ["runs", "failures"]
    sections = found["sections"]
    assert isinstance(sections, dict)
    assert [row["key"].partition(":")[0] for row in sections["failures"]] == ["http_error", "http_error"]
    assert [row["b"] for row in sections["failures"]] == ["gone", "new"]


def test_the_number_of_runs_is_no_difference_of_steps_and_failures(tmp_path: Path) -> None:
    one = replayed(tmp_path / "a", [crashed(ITEMS, REPORT)])
    two = replayed(tmp_path / "b", [crashed(ITEMS, REPORT)] * 2)
    assert not {"steps", "failures", "applications"} & set(diffed(one, two)["different"])  # type: ignore[call-overload]
    flaky = replayed(tmp_path / "c", [crashed(ITEMS, REPORT), crashed(ITEMS)])
    assert diffed(two, flaky)["sections"]["failures"] == [{  # type: ignore[index]
        "key": "http_error: GET http://127.0.0.1:8801/api/report 500", "a": "reproduced",
        "b": "not in every run (1 of 2 runs)"}]


def test_a_step_that_was_not_taken_is_a_difference(tmp_path: Path) -> None:
    one, lost = replayed(tmp_path / "a", [crashed(ITEMS, REPORT)]), stored(tmp_path / "b", "diverged")
    sections = diffed(one, lost)["sections"]
    assert isinstance(sections, dict)
    assert {"key": "step 4", "a": "click #pay 5 times: done", "b": "click #pay 5 times: missing"} \
        in sections["steps"]


def test_what_an_application_wrote_is_compared(tmp_path: Path) -> None:
    one, dead = replayed(tmp_path / "a", [crashed(ITEMS, REPORT)]), stored(tmp_path / "b", "not_ready")
    done = runner("report", "diff", one.directory, dead.directory)
    assert "target stderr of run 1" in done.stdout
    assert "+cannot bind" in done.stdout
    assert "applications\n  - ended: stopped when the session was over\n  + ended: exited 3\n" in done.stdout


def test_two_recordings_with_one_seed_are_alike(tmp_path: Path) -> None:
    one, other = recorded(tmp_path / "a", ITEMS), recorded(tmp_path / "b", ITEMS)
    assert diffed(one, other)["same"] is True


# The store

def test_runs_are_listed_shown_opened_and_removed(tmp_path: Path) -> None:
    evidence = [stored(tmp_path / name, name) for name in ("recorded", "cut", "partly")]
    ids = [each.result.run_id for each in evidence]
    listed = runner("runs", "list").stdout
    assert listed.count("python3 app.py --port 8801") == 3
    assert runner("runs", "list", "--verdict", "recorded").stdout.count("run_") == 1
    for each, headline in zip(ids, ("RECORDED: 2 failures found", "NO VERDICT: ",
                                    "REPRODUCED: partly, 1 of 2 recorded failures"), strict=True):
        shown = runner("runs", "show", each)
        assert (shown.exit_code, shown.stdout.startswith(headline)) == (0, True), shown.output
        assert "opened       http://127.0.0.1:8801/\n" in shown.stdout
        page = runner("runs", "open", each).stdout.strip()
        assert Path(page).read_text().startswith("<!DOCTYPE html>")
    assert runner("runs", "rm", *ids, "--yes").exit_code == 0
    assert not any(each.directory.exists() for each in evidence)
    assert runner("runs", "list").stdout == "no runs\n"


def test_a_recording_is_in_the_index_as_its_own_report(tmp_path: Path) -> None:
    evidence = recorded(tmp_path, ITEMS)
    (row,) = json.loads(runner("runs", "list", "--json").stdout)["runs"]
    assert row["report"] == str(evidence.directory / "incident.json") == evidence.result.report
    assert evidence.result.report_sha256 == next(
        file.sha256 for file in evidence.result.session.files if file.name == "incident.json")  # type: ignore[union-attr]
