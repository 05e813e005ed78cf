"""The main job on a real engine: record, replay, and everything a user may ask for on the way."""

import json
import os

import pytest

from tests.engine.cli import runner

PROGRAM = """
import sys
total = sum(int(row) for row in open("rows.txt"))
print("rows add up to", total)
open("left-behind.txt", "w").write("x")
if total != 42:
    sys.exit(f"ledger is off by {total - 42}")
"""


@pytest.fixture
def payload(tmp_path):
    folder = tmp_path / "ledger"
    folder.mkdir()
    (folder / "check.py").write_text(PROGRAM)
    (folder / "rows.txt").write_text("20\n23\n")
    return folder


@pytest.fixture
def report(tmp_path, payload):
    path = tmp_path / "report.json"
    done = runner("record", "--payload", payload, "--command", "python3 check.py", "-o", path, "--runs", 2)
    assert done.code == 0, done.err
    return path


def replay(report, payload, *more):
    return runner("replay", report, "--payload", payload, "--yes", "--quiet", "--json",
                  "--out", report.parent / f"out-{len(list(report.parent.iterdir()))}", *more)


def test_a_recorded_failure_is_reproduced_with_evidence(report, payload):
    done = replay(report, payload, "--runs", 3, "--jobs", 2)
    assert (done.code, done.json["verdict"], done.json["passes"]) == (0, "reproduced", 3)
    assert done.json["fingerprint_mode"] == "exact"
    assert done.json["drift"] == []
    for sample in done.json["samples"]:
        assert (sample["cause"], sample["returncode"]) == ("exited", 1)
        assert sample["volume_before"] == done.json["payload_fingerprint"]
        assert [(change["kind"], change["path"]) for change in sample["changes"]] == [("added", "left-behind.txt")]
        assert sample["cpu_seconds"] > 0
        assert sample["peak_memory"] > 0
    assert sorted(os.listdir(payload)) == ["check.py", "rows.txt"]


def test_the_fixed_side_is_not_reproduced(report, payload):
    (payload / "rows.txt").write_text("20\n22\n")
    refused = replay(report, payload)
    assert (refused.code, refused.json["code"]) == (2, "payload_mismatch")


def test_nothing_runs_without_yes(report, payload):
    done = runner("replay", report, "--payload", payload)
    assert done.code == 2
    assert "python3 check.py" in done.out
    assert "--yes" in done.err


def test_a_network_is_an_opt_in_and_drift(report, payload):
    done = replay(report, payload, "--docker-network", "bridge")
    assert done.code == 0
    assert {"what": "network", "recorded": "none", "used": "bridge"} in done.json["drift"]
    assert done.json["docker_network"] == "bridge"


def test_a_policy_of_ones_own_is_drift(report, payload, tmp_path):
    policy = tmp_path / "small.yaml"
    policy.write_text("name: small\nextends: default\nmemory: 256MiB\nwork: {size: 64MiB}\ntmp: {size: 16MiB}\n"
                      "payload: {bytes: 64MiB}\n")
    done = replay(report, payload, "--policy", policy)
    assert done.code == 0
    assert done.json["policy"]["effective"]["memory"] == 256 << 20
    assert [row["what"] for row in done.json["drift"]] == ["policy"]


def test_strict_gives_each_run_a_steward_of_its_own(report, payload):
    done = replay(report, payload, "--policy", "strict", "--runs", 3)
    assert (done.code, done.json["policy"]["name"]) == (0, "strict")


def test_a_persons_timeout_is_drift_and_is_kept(report, payload):
    done = replay(report, payload, "--timeout", 900)
    assert (done.json["timeout_seconds"], done.json["timeout_source"]) == (900, "override")
    assert [row["what"] for row in done.json["drift"]] == ["timeout"]


def test_more_runs_than_one_steward_holds(report, payload):
    done = replay(report, payload, "--runs", 34, "--jobs", 4)
    assert (done.code, done.json["passes"]) == (0, 34)
    assert [sample["index"] for sample in done.json["samples"]] == list(range(1, 35))


def test_a_read_only_payload_keeps_its_times(report, payload):
    before = {path.name: os.stat(path) for path in payload.iterdir()}
    for path in payload.iterdir():
        path.chmod(0o444)
    payload.chmod(0o555)
    done = replay(report, payload)
    assert (done.code, done.json["fingerprint_mode"]) == (0, "content")
    assert done.json["metadata_drift_possible"] is True
    assert [(row["path"], row["detail"]) for row in done.json["mode_drift"]] == [
        ("check.py", "0644 to 0444"), ("rows.txt", "0644 to 0444")]
    after = {path.name: os.stat(path) for path in payload.iterdir()}
    assert {name: (stat.st_atime_ns, stat.st_mtime_ns) for name, stat in after.items()} == \
        {name: (stat.st_atime_ns, stat.st_mtime_ns) for name, stat in before.items()}


def test_a_limit_the_report_asked_for_and_did_not_get_gives_no_verdict(tmp_path, payload):
    (payload / "check.py").write_text("x = bytearray(700 << 20)\n")
    report = tmp_path / "greedy.json"
    small = tmp_path / "small.yaml"
    small.write_text("name: small\nextends: default\nmemory: 256MiB\nwork: {size: 64MiB}\ntmp: {size: 16MiB}\n"
                     "payload: {bytes: 64MiB}\n")
    (payload / "check.py").write_text("raise SystemExit('no')\n")
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "--memory", "900MiB",
                  "-o", report, "--runs", 1).code == 0
    document = json.loads(report.read_text())
    assert document["execution"]["limits"]["memory"] == 900 << 20
    (payload / "check.py").write_text("x = bytearray(700 << 20)\nraise SystemExit('no')\n")
    fresh = runner("fingerprint", payload, "--json").json
    document["payload"] |= {"files": fresh["files"], "bytes": fresh["bytes"], "entries": fresh["entries"]}
    document["payload"]["fingerprint"] |= {key: _digest(fresh, key) for key in ("exact", "content")}
    report.write_text(json.dumps(document))
    done = replay(report, payload, "--policy", small)
    assert (done.code, done.json["verdict"], done.json["samples"][0]["cause"]) == (3, "no_verdict", "oom_killed")


def _digest(fresh, key):
    native = fresh.get("manifest-sha256-v1", fresh)
    return native[key] if key in native else native["fingerprint"][key]


@pytest.mark.parametrize("form", ["native", "repomin"])
def test_either_format_replays(tmp_path, payload, form):
    report = tmp_path / "r.json"
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "--format", form, "-o", report,
                  "--env", "MODE=a b", "--runs", 1).code == 0
    assert replay(report, payload).code == 2
    assert replay(report, payload, "--env", "MODE=other").json["code"] == "environment"
    done = replay(report, payload, "--env", "MODE=a b")
    assert (done.code, done.json["source"]) == (0, form)
    assert "a b" not in done.out


def test_a_declared_artifact_is_kept(tmp_path, payload):
    report = tmp_path / "r.json"
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "--artifact", "left-*.txt",
                  "-o", report, "--runs", 1).code == 0
    done = replay(report, payload)
    assert done.json["samples"][0]["artifacts"][0]["path"] == "left-behind.txt"


def test_a_missing_image_is_named_with_the_command_that_helps(report, payload):
    document = json.loads(report.read_text())
    document["execution"]["image"] |= {"id": "sha256:" + "0" * 64, "manifest": None, "name": "tool/thing:1"}
    report.write_text(json.dumps(document))
    done = replay(report, payload)
    assert (done.code, done.json["code"]) == (2, "image")
    assert "docker pull tool/thing:1" in done.json["hint"]
    chosen = replay(report, payload, "--docker-image", "no/such:image")
    assert (chosen.code, chosen.json["code"]) == (2, "image")


def test_a_flaky_failure_is_not_recorded(tmp_path, payload):
    (payload / "check.py").write_text("import os, sys\nsys.exit(1 + os.urandom(1)[0] % 100)\n")
    done = runner("record", "--payload", payload, "--command", "python3 check.py", "-o", tmp_path / "r.json",
                  "--runs", 4)
    assert done.code == 3
    assert "flaky" in done.err
    assert not (tmp_path / "r.json").exists()
