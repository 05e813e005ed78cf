"""One file to attach: recorded into, moved, replayed where there is nothing else, on the engine and on the host."""

from __future__ import annotations

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from cli import runner
from repomin_samples import Sample, copy_sample

pytestmark = pytest.mark.engine

PROGRAM = """
import os, sys
total = sum(int(row) for row in open("rows/rows.txt"))
open("left-behind.txt", "w").write("x")
sys.exit(f"ledger is off by {total - 42}, {oct(os.stat('rows').st_mode)}, {os.readlink('ln')}")
"""


@pytest.fixture
def payload(tmp_path: Path) -> Path:
    folder = tmp_path / "there" / "ledger"
    (folder / "rows").mkdir(parents=True)
    (folder / "rows" / "rows.txt").write_text("20\n23\n")
    (folder / "check.py").write_text(PROGRAM)
    (folder / "ln").symlink_to("rows/rows.txt")
    (folder / "rows").chmod(0o750)
    return folder


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A directory with nothing in it."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    return place


def test_a_bundle_is_all_that_a_replay_needs(payload: Path, elsewhere: Path) -> None:
    """Recorded into one file, moved, replayed twice and on the host; the payload is unpacked nowhere."""
    done = runner("record", "--payload", payload, "--command", "python3 check.py", "-o", payload.parent / "bug.repro",
                  "--runs", 2, "--quiet")
    assert (done.code, sorted(os.listdir(payload.parent))) == (0, ["bug.repro", "ledger"]), done.err
    bug = (payload.parent / "bug.repro").rename(elsewhere / "moved.repro")
    kept = bug.read_bytes()
    for place in ((), ("--backend", "host")):
        done = runner("replay", "moved.repro", "--yes", "--json", "--quiet", "--runs", 2, "--out", "out", *place,
                      cwd=elsewhere)
        assert (done.code, done.json["verdict"], done.json["passes"]) == (0, "reproduced", 2), done.err
        assert (done.json["fingerprint_mode"], done.json["payload_unchanged"]) == ("exact", True)
        assert done.json["bundle_sha256"] == sha256(kept).hexdigest()
        assert (done.json["report"], done.json["payload"]) == (str(bug), str(bug))
        for sample in done.json["samples"]:
            assert sample["volume_before"] == done.json["payload_fingerprint"]
            assert [change["path"] for change in sample["changes"]] == ["left-behind.txt"]
        subprocess.run(["rm", "-r", elsewhere / "out"], check=True)
    assert (bug.read_bytes(), os.listdir(elsewhere)) == (kept, ["moved.repro"])


def test_the_same_verdict_as_with_report_and_payload_apart(payload: Path, elsewhere: Path) -> None:
    report = elsewhere / "r.json"
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "-o", report, "--quiet").code == 0
    assert runner("bundle", "pack", report, "--payload", payload, "-o", elsewhere / "x.repro").code == 0
    apart = runner("replay", report, "--payload", payload, "--yes", "--json", "--quiet", cwd=elsewhere)
    bundled = runner("replay", elsewhere / "x.repro", "--yes", "--json", "--quiet", cwd=elsewhere)
    differ = {"report", "payload", "bundle_sha256", "run_id", "started", "finished", "samples", "events"}
    said, same = ({key: value for key, value in done.json.items() if key not in differ} for done in (apart, bundled))
    assert said == same
    assert apart.json["bundle_sha256"] is None
    assert runner("bundle", "unpack", elsewhere / "x.repro", "-o", elsewhere / "out").code == 0
    again = runner("replay", elsewhere / "out" / "report.json", "--payload", elsewhere / "out" / "payload", "--yes",
                   "--json", "--quiet", cwd=elsewhere)
    assert (again.code, again.json["fingerprint_mode"]) == (0, "exact")


def test_more_stewards_than_one_read_it_each_for_itself(payload: Path, elsewhere: Path) -> None:
    bug = elsewhere / "bug.repro"
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "-o", bug, "--quiet").code == 0
    done = runner("replay", bug, "--yes", "--json", "--quiet", "--policy", "strict", "--runs", 3, "--jobs", 2,
                  cwd=elsewhere)
    assert (done.code, done.json["passes"]) == (0, 3), done.err


def test_a_fixed_payload_is_not_reproduced_from_its_bundle(payload: Path, elsewhere: Path) -> None:
    """A bundle whose payload no longer fails: a new report about the old failure, packed with what is fixed."""
    bug = elsewhere / "bug.repro"
    assert runner("record", "--payload", payload, "--command", "python3 check.py || exit 3", "-o", elsewhere / "r.json",
                  "--quiet").code == 0
    report = json.loads((elsewhere / "r.json").read_text())
    report["workload"]["shell"] = "true"
    (elsewhere / "r.json").write_text(json.dumps(report))
    assert runner("bundle", "pack", elsewhere / "r.json", "--payload", payload, "-o", bug).code == 0
    done = runner("replay", bug, "--yes", "--json", "--quiet", cwd=elsewhere)
    assert (done.code, done.json["verdict"]) == (1, "not_reproduced")


def test_a_repomin_report_is_packed_and_replayed(tmp_path: Path, elsewhere: Path) -> None:
    """Its content digest is computed from the bundle; the exact one cannot be, and the evidence says so."""
    sample: Sample = copy_sample("a", tmp_path)
    bug = elsewhere / "a.repro"
    packed = runner("bundle", "pack", sample.report, "--payload", sample.payload, "-o", bug)
    assert packed.code == 0, packed.err
    for place in ((), ("--backend", "recorded")):
        done = runner("replay", bug, "--yes", "--json", "--quiet", *place, cwd=elsewhere)
        assert (done.code, done.json["fingerprint_mode"], done.json["source"]) == (0, "content", "repomin"), done.err
        assert done.json["actual_content_fingerprint"] == done.json["expected_content_fingerprint"]
        assert done.json["actual_fingerprint"] is None
        assert any("a bundle lacks" in warning for warning in done.json["warnings"])


def test_recording_in_repomins_format_into_a_bundle(payload: Path, elsewhere: Path) -> None:
    bug = elsewhere / "bug.repro"
    done = runner("record", "--payload", payload, "--command", "python3 check.py", "-o", bug, "--format", "repomin",
                  "--quiet")
    assert done.code == 0, done.err
    done = runner("replay", bug, "--yes", "--json", "--quiet", cwd=elsewhere)
    assert (done.code, done.json["source"], done.json["fingerprint_mode"]) == (0, "repomin", "content"), done.err


def test_without_yes_the_plan_is_printed_and_nothing_read_but_the_head(payload: Path, elsewhere: Path) -> None:
    bug = elsewhere / "bug.repro"
    assert runner("record", "--payload", payload, "--command", "python3 check.py", "-o", bug, "--quiet").code == 0
    done = runner("replay", "bug.repro", cwd=elsewhere)
    assert (done.code, os.listdir(elsewhere)) == (2, ["bug.repro"])
    assert "payload      in the bundle" in done.out
    assert "--yes" in done.err
