"""``runner fingerprint`` as a person or a script meets it."""

import json
import os

import pytest
from click.testing import CliRunner

from runner.cli.fingerprint import command


@pytest.fixture
def payload(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"hi\n")
    os.chmod(tmp_path / "a.txt", 0o644)
    os.chmod(tmp_path, 0o755)
    for path in (tmp_path / "a.txt", tmp_path):
        os.utime(path, (1704067200, 1704067200))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_both_pairs_of_digests_and_the_counts(payload):
    done = run(payload, "--json")
    document = json.loads(done.stdout)
    assert done.exit_code == 0
    assert document["ok"] is True
    assert (document["entries"], document["files"], document["bytes"]) == (1, 1, 3)
    assert document["tree_sha256"] == "6bbfa27c3822327a73dad3bdd367454d76ad7a5eb409ae9bf60a235e8f756570"
    assert document["tree_content_sha256"] == "0461a733ddf369f9aab1155cb301835677d0326deecb51ac1c995c14d5ae37a4"
    assert document["fingerprint"]["scheme"] == "manifest-sha256-v1"
    assert document["fingerprint"]["exact"] in run(payload).stdout
    assert document["refusals"] == []


def test_what_sealing_refuses_is_listed_and_exits_2(payload):
    os.symlink("/etc", payload / "abs\x1b")
    os.mkfifo(payload / "pipe")
    done = run(payload)
    assert done.exit_code == 2
    assert "refuses 2:" in done.stdout
    assert "abs\\x1b is a symbolic link with an absolute target (rule absolute_symlink)" in done.stdout
    document = json.loads(run(payload, "--json").stdout)
    assert document["ok"] is False
    assert [each["rule"] for each in document["refusals"]] == ["absolute_symlink", "fifo"]
    assert document["fingerprint"] is None


def test_a_long_list_is_cut(payload):
    for number in range(30):
        os.symlink("/etc", payload / f"{number:02}")
    assert "and 10 more; --json lists them all" in run(payload).stdout


def test_a_directory_that_is_none_is_one_error_line(tmp_path):
    done = run(tmp_path / "none")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    document = json.loads(run(tmp_path / "none", "--json").stdout)
    assert (document["ok"], document["code"]) == (False, "payload_refused")


def test_the_policy_decides(payload):
    (payload / "A.TXT").touch()
    assert run(payload).exit_code == 0
    done = run(payload, "--policy", "strict")
    assert done.exit_code == 2
    assert "rule case_collision" in done.stdout
    assert run(payload, "--policy", "nosuch").exit_code == 2
