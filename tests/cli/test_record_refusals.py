"""What `runner record` refuses before anything runs: one line, exit 2."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from runner.cli.record import command


@pytest.fixture
def payload(tmp_path):
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "a").write_text("a")
    return folder


def refuse(payload, *words, output=None):
    target = output if output is not None else payload.parent / "r.json"
    done = CliRunner().invoke(command, ["--payload", str(payload), "-o", str(target), *words])
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize(("words", "said"), [
    (("--command", ""), "empty"), (("--command", "x", "--memory", "lots"), "--memory lots"),
    (("--command", "x", "--memory", "-1"), "--memory"), (("--command", "x", "--cwd", "../.."), "--cwd"),
    (("--command", "x", "--cwd", "/etc"), "--cwd"), (("--command", "'x", "--argv"), "quotes"),
    (("--command", "x", "--runs", "0"), "--runs"), (("--command", "x", "--exit-code", "0"), "--match"),
    (("--command", "x", "--env", "NOPE"), "--env"), (("--command", "x", "--policy", "nope"), "policy")])
def test_bad_options_are_one_line(payload, words, said):
    assert said in refuse(payload, *words)


def test_a_report_that_could_not_be_written_is_told_first(payload, tmp_path):
    os.symlink("/etc/hostname", tmp_path / "link")
    assert "symbolic link" in refuse(payload, "--command", "x", output=tmp_path / "link")
    assert "not a directory" in refuse(payload, "--command", "x", output=tmp_path / "no" / "r.json")
    assert "not a regular file" in refuse(payload, "--command", "x", output=payload)


def test_a_command_that_is_no_text_is_one_line(tmp_path):
    done = subprocess.run([sys.executable, "-m", "runner", "record", "--payload", tmp_path, "--command", b"echo \xff",
                           "-o", tmp_path / "report.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--command: is not UTF-8" in done.stderr
