"""What the program says at its edge: output that nobody can take, texts of click, numbers without bounds."""

import json
import os
import subprocess
import sys

import pytest

from runner.payload.seal import DEFAULT_LIMITS, seal
from tests.bundles import report_of


def runner(*words, **options):
    return subprocess.run([sys.executable, "-m", "runner", *words], stderr=subprocess.PIPE, text=True, check=False,
                          **options)


@pytest.mark.parametrize("words", [("policy", "list"), ("--help",), ("runs", "list", "--json"),
                                   ("gc", "--bogus", "--json")])
def test_a_full_disk_behind_the_output_is_no_bug_of_ours(tmp_path, words):
    with open("/dev/full", "w") as full:
        done = runner(*words, stdout=full, env={**os.environ, "RUNNER_STORE": str(tmp_path / "none")})
    assert (done.returncode, done.stderr) == (
        2, "runner: the output cannot be written: No space left on device (make room, or send it elsewhere)\n")


def test_choices_are_listed_in_plain_text(tmp_path):
    done = runner("export", "latest", stdout=subprocess.PIPE)
    assert "Choose from: md, json, html, junit, sarif, in-toto (`runner export --help`" in done.stderr


def test_a_limit_has_a_limit(tmp_path):
    done = runner("runs", "list", "--limit", "9" * 20, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--limit" in done.stderr


def test_a_file_in_the_place_of_the_store_is_named(tmp_path):
    place = tmp_path / "store"
    for make in (lambda: place.write_text("x"), lambda: (place.unlink(), place.symlink_to("nowhere"))):
        make()
        done = runner("runs", "list", stdout=subprocess.PIPE, env={**os.environ, "RUNNER_STORE": str(place)})
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{place}: the store is a link or no directory" in done.stderr


@pytest.mark.parametrize(("ending", "code"), [(7, 0), (0, 1)])
def test_a_reader_that_has_gone_changes_no_verdict(tmp_path, ending, code):
    payload = tmp_path / "p"
    payload.mkdir()
    report = report_of(seal(payload, DEFAULT_LIMITS), command=f"echo LEDGER_MISMATCH; exit {ending}")
    (tmp_path / "r.json").write_bytes(report)
    reader, writer = os.pipe()
    os.close(reader)
    done = runner("replay", str(tmp_path / "r.json"), "--payload", str(payload), "--backend", "host", "--yes",
                  "--quiet",
                  "--out", str(tmp_path / "out"), stdout=writer,
                  env={**os.environ, "RUNNER_STORE": str(tmp_path / "store")})
    os.close(writer)
    assert done.returncode == code, done.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_nor_an_error(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    done = runner("report", "validate", str(tmp_path / "none"), "--json", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.parametrize("words", [("show", "--format", "json"), ("diff", "a", "--format=json"),
                                   ("validate", "--json")])
def test_a_usage_error_is_json_where_json_is_wanted(words):
    done = runner("report", *words, "--bogus", stdout=subprocess.PIPE)
    said = json.loads(done.stdout)
    assert (done.returncode, done.stderr, said["ok"], said["code"]) == (2, "", False, "usage")
