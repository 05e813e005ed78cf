"""Stored evidence: whole it is read back, and any change to any part of it is found."""

import json
import shutil
from dataclasses import replace

import pytest
from stored_runs import FAILS, PASSES, TRACEBACK, make_evidence

from runner.errors import EvidenceAltered, UsageError
from runner.evidence.check import open_evidence
from runner.evidence.events import read_events


@pytest.fixture(scope="module")
def pristine(tmp_path_factory):
    return make_evidence(tmp_path_factory.mktemp("evidence"), (FAILS, PASSES))


@pytest.fixture
def directory(pristine, tmp_path):
    return shutil.copytree(pristine.directory, tmp_path / "run")


def edit(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, sort_keys=True, indent=2) + "\n")


def refusal(directory):
    with pytest.raises(EvidenceAltered) as caught:
        open_evidence(directory)
    assert caught.value.exit_code == 2
    return caught.value.message


def test_whole_evidence_is_read_back(pristine):
    result = pristine.result
    assert (result.verdict, result.passes, len(result.samples)) == ("not_reproduced", 1, 2)
    assert [event.kind for event in pristine.events] == [
        "replay.started", "payload.sealed", "run.judged", "run.judged", "replay.judged"]
    assert result.contract.match == "ledger is off"
    assert pristine.output(result.samples[0], "stderr") == TRACEBACK


def test_the_place_of_the_match_is_in_the_evidence(pristine):
    first, second = pristine.result.samples
    assert TRACEBACK[first.match.start:first.match.end] == b"ledger is off"
    assert (first.match.stream, second.match) == ("stderr", None)


def test_a_match_after_bytes_that_are_no_text_keeps_its_place(tmp_path):
    noise = b"\xff\xfe\xe2\x28\xa1 caf\xc3\xa9 \xf0\x9f\x98\x80\xf0\x9f\n"
    evidence = make_evidence(tmp_path, (replace(FAILS, stdout=noise, stderr=noise + TRACEBACK),))
    sample = evidence.result.samples[0]
    assert evidence.output(sample, "stderr")[sample.match.start:sample.match.end] == b"ledger is off"


@pytest.mark.parametrize(("field", "value"), [
    ("verdict", "reproduced"), ("passes", 2), ("exit_code", 0), ("command", "true"), ("report_sha256", "0" * 64),
    ("finished", "2030-01-01T00:00:00.000Z"), ("backend", "host")])
def test_a_changed_field_is_found(directory, field, value):
    edit(directory / "result.json", lambda document: document.update({field: value}))
    assert "is not the result that the event log ends with" in refusal(directory)


def test_a_changed_run_is_found(directory):
    edit(directory / "result.json", lambda document: document["samples"][1].update(accepted=True))
    assert "result.json" in refusal(directory)


@pytest.mark.parametrize("name", ["stdout-1.bin", "stderr-1.bin", "stdout-2.bin"])
def test_changed_output_is_found(directory, name):
    (directory / name).write_bytes((directory / name).read_bytes() + b"!")
    assert f"{name} is not what was kept" in refusal(directory)


def test_a_changed_artifact_is_found(directory):
    artifact = next((directory / "artifacts").iterdir())
    artifact.write_bytes(b"LOG\n")
    assert f"artifacts/{artifact.name} is not what was kept" in refusal(directory)


@pytest.mark.parametrize("number", range(5))
def test_a_missing_event_is_found(directory, number):
    lines = (directory / "events.jsonl").read_bytes().splitlines(keepends=True)
    (directory / "events.jsonl").write_bytes(b"".join(lines[:number] + lines[number + 1:]))
    assert "event" in refusal(directory)


def test_a_changed_event_is_found(directory):
    log = directory / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"kind":"replay.started"', b'"kind":"payload.sealed"', 1))
    assert "does not follow event 1" in refusal(directory)


def test_another_log_in_its_place_is_found(directory, tmp_path):
    other = make_evidence(tmp_path / "other", (PASSES, PASSES))
    shutil.copy(other.directory / "events.jsonl", directory / "events.jsonl")
    assert "event 1 is event 1 of" in refusal(directory)


@pytest.mark.parametrize("name", ["manifest.txt", "events.jsonl", "result.json", "stderr-1.bin"])
def test_a_missing_file_is_found(directory, name):
    (directory / name).unlink()
    assert f"{name} cannot be read" in refusal(directory)


def test_a_link_is_not_followed(directory, tmp_path):
    shutil.move(directory / "stderr-1.bin", tmp_path / "elsewhere")
    (directory / "stderr-1.bin").symlink_to(tmp_path / "elsewhere")
    assert "stderr-1.bin cannot be read" in refusal(directory)


def test_a_changed_manifest_is_found(directory):
    manifest = directory / "manifest.txt"
    manifest.write_bytes(manifest.read_bytes().replace(b" 0644 ", b" 0755 ", 1))
    assert "manifest.txt is not the manifest" in refusal(directory)


@pytest.mark.parametrize("text", ["", "[]", "{", "NaN", '{"schema": "runner.result/1"}', "[" * 100_000,
                                  '{"schema": "runner.result/1", "verdict": NaN}', "\ud800"])
def test_what_is_no_result_is_refused(directory, text):
    (directory / "result.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert "result.json" in refusal(directory)


def test_a_file_outside_the_run_directory_is_never_read(directory):
    edit(directory / "result.json", lambda document: document["samples"][0]["stdout"].update(file="/etc/passwd"))
    assert "/etc/passwd" not in refusal(directory)


def test_what_is_no_run_directory_is_a_usage_error(tmp_path):
    with pytest.raises(UsageError, match="not a run directory"):
        open_evidence(tmp_path / "nothing")


def test_a_directory_of_something_else_is_no_run(directory):
    (directory / "result.json").unlink()
    (directory / "events.jsonl").unlink()
    with pytest.raises(UsageError, match=r"it has no result\.json"):
        open_evidence(directory)


def test_evidence_that_is_not_for_this_user_was_not_altered(directory, monkeypatch):
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("runner.evidence.check.os.open", denied)
    with pytest.raises(UsageError, match=r"result\.json is not for this user to read"):
        open_evidence(directory)


@pytest.mark.parametrize("data", [{}, {"index": "1"}, {"index": None}])
def test_a_log_that_agrees_with_its_head_and_holds_no_runs_is_found(directory, data):
    """Rewritten with a right chain, so that nothing but the runs themselves gives it away."""
    log, lines, previous = directory / "events.jsonl", [], "0" * 64
    for event in read_events(log.read_bytes(), json.loads((directory / "result.json").read_text())["run_id"]):
        changed = replace(event, previous=previous, data=data if event.kind == "run.judged" else event.data)
        lines.append(changed.line() + b"\n")
        previous = changed.digest()
    log.write_bytes(b"".join(lines))
    edit(directory / "result.json", lambda document: document["events"].update(head=previous))
    assert "the runs in result.json are not those of the event log" in refusal(directory)
