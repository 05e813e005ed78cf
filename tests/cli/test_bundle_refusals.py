"""What ``runner bundle`` and ``runner replay`` say of bundles that they do not take: one line, exit 2, no change."""

import json
import os

import pytest
from click.testing import CliRunner

from runner.cli.bundle import command as bundle
from runner.cli.record import command as record
from runner.cli.replay import command as replay
from runner.payload.seal import DEFAULT_LIMITS, seal
from tests.bundles import packed, report_of


@pytest.fixture
def payload(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a").write_text("a")
    return folder


@pytest.fixture
def report(tmp_path, payload):
    path = tmp_path / "r.json"
    path.write_bytes(report_of(seal(payload, DEFAULT_LIMITS)))
    return path


@pytest.fixture
def bug(tmp_path, payload):
    packed(payload, tmp_path / "bug.repro")
    return tmp_path / "bug.repro"


def refuse(command, *words, said):
    done = CliRunner().invoke(command, [*map(str, words)])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert said in done.stderr
    return done


def test_a_bundle_comes_with_its_payload_and_a_report_without(bug, report, payload):
    refuse(replay, bug, "--payload", payload, "--yes", said="is a bundle, which holds its own payload")
    refuse(replay, report, "--yes", said="is a report without its payload (name the directory with --payload DIR)")


def test_what_is_no_bundle(tmp_path, report, payload):
    (tmp_path / "zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "ln.repro").symlink_to(tmp_path / "zip")
    for words in (["inspect"], ["unpack", "-o", tmp_path / "out"]):
        refuse(bundle, *words, tmp_path / "missing", said="missing: cannot be read: No such file")
        refuse(bundle, *words, report, said="r.json: is no .repro bundle")
        refuse(bundle, *words, tmp_path / "zip", said="rule not_a_bundle")
        refuse(bundle, *words, payload, said="is a directory")
        refuse(bundle, *words, tmp_path / "ln.repro", said="is a symbolic link")
    assert not (tmp_path / "out").exists()


def test_a_refusal_as_json(tmp_path, report):
    done = CliRunner().invoke(bundle, ["inspect", "--json", str(report)])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["ok"], told["code"]) == (2, False, "bundle_refused")


def test_inspecting_shows_what_does_not_verify(bug, payload):
    (payload / "big").write_bytes(os.urandom(400_000))  # so that the head comes before the damage
    packed(payload, bug)
    bug.write_bytes(bug.read_bytes()[:-1])
    done = CliRunner().invoke(bundle, ["inspect", "--json", str(bug)])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["ok"], told["rule"], told["sha256"]) == (2, False, "truncated", None)
    assert told["claims"]["command"]["text"] == "sh fail.sh"
    done = CliRunner().invoke(bundle, ["inspect", str(bug)])
    assert (done.exit_code, done.stdout.count("verifies     no: ")) == (2, 1)


def test_packing_refuses(tmp_path, bug, report, payload):
    out = tmp_path / "x.repro"
    (tmp_path / "ln").symlink_to(tmp_path / "elsewhere")
    words = ("--payload", payload, "-o")
    refuse(bundle, "pack", bug, *words, out, said="is an archive, expected a report")
    refuse(bundle, "pack", report, *words, tmp_path / "ln", said="is a symbolic link")
    refuse(bundle, "pack", report, *words, tmp_path / "no" / "x", said="is not a directory")
    refuse(bundle, "pack", report, "--payload", tmp_path / "no", "-o", out, said="is not a directory")
    (payload / "a").write_text("b")
    refuse(bundle, "pack", report, *words, out, said="not the recorded payload")
    (payload / "ln").symlink_to("/etc/passwd")
    refuse(bundle, "pack", report, *words, out, said="rule absolute_symlink")
    assert sorted(os.listdir(tmp_path)) == ["bug.repro", "ln", "p", "r.json"]


def test_a_failed_pack_leaves_the_old_bundle(bug, report, payload):
    before = bug.read_bytes()
    (payload / "a").write_text("b")
    refuse(bundle, "pack", report, "--payload", payload, "-o", bug, said="not the recorded payload")
    assert bug.read_bytes() == before


def test_unpacking_refuses_a_place_that_is_taken(tmp_path, bug, payload):
    refuse(bundle, "unpack", bug, "-o", payload, said="exists and is not an empty directory")
    refuse(bundle, "unpack", bug, "-o", bug, said="exists and is not an empty directory")
    refuse(bundle, "unpack", bug, "-o", tmp_path / "no" / "x", said="cannot be written: No such file")
    assert sorted(os.listdir(payload)) == ["a"]


def test_a_policy_with_smaller_caps_is_kept(tmp_path, bug, payload):
    policy = tmp_path / "tiny.yaml"
    (payload / "b").write_text("b")
    packed(payload, bug)
    policy.write_text("name: tiny\nextends: default\npayload: {files: 1}\n")
    refuse(bundle, "unpack", bug, "--policy", policy, "-o", tmp_path / "out", said="rule too_many_files")
    assert not (tmp_path / "out").exists()


def test_recording_tells_a_bad_place_before_anything_runs(tmp_path, payload):
    (tmp_path / "d.repro").mkdir()
    refuse(record, "--payload", payload, "--command", "false", "-o", tmp_path / "d.repro", said="is not a regular file")
