"""``--verbose`` and ``--ci`` with a real engine: what they tell, and that no secret is in it."""

import json
import os
import re

import pytest
from cli import runner

pytestmark = pytest.mark.engine
SECRET = "hunter2-0xSECRET"
CALL = re.compile(r"engine  (GET|POST|PUT|DELETE|HEAD) +\d{3} +\d+\.\d ms  /[!-~]+")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("verbose")
    (place / "payload").mkdir()
    (place / "payload" / "fail.sh").write_text("echo the ledger is off >&2; exit 7\n")
    done = runner("record", "--payload", "payload", "--command", "sh fail.sh", "--env", f"TOKEN={SECRET}", "--runs", 1,
                  "-o", "report.json", "--verbose", cwd=place)
    assert done.code == 0, done.err
    return place, done


def replayed(place, *words, env=None):
    return runner("replay", "report.json", "--payload", "payload", "--env", f"TOKEN={SECRET}", "--yes", *words,
                  cwd=place, env=env)


def test_every_call_is_told_and_counted(recorded):
    _, done = recorded
    calls = [line for line in done.err.splitlines() if CALL.fullmatch(line)]
    assert f"engine  {len(calls)} calls" in done.err.splitlines()
    assert any(line.endswith("/containers/create") for line in calls)
    assert any(line.endswith("/containers/<id>/start") for line in calls)


def test_no_value_of_a_variable_is_told(recorded):
    place, done = recorded
    assert SECRET not in done.out + done.err
    again = replayed(place, "--verbose")
    assert again.code == 0
    assert SECRET not in again.out + again.err


def test_where_the_time_went(recorded):
    place, _ = recorded
    lines = replayed(place, "--verbose").err.splitlines()
    assert [line[20:] for line in lines if line.startswith("time ")] == ["engine, image and seal", "runs", "verdict"]


def test_without_it_no_call_is_told(recorded):
    place, _ = recorded
    assert "engine" not in replayed(place).err


@pytest.mark.parametrize("words", [("images", "list"), ("gc",), ("doctor",)])
def test_other_commands_tell_theirs_too(words, tmp_path):
    assert "engine  GET" in runner(*words, "--verbose", cwd=tmp_path).err


def test_json_on_stdout_is_not_disturbed(recorded):
    place, _ = recorded
    done = replayed(place, "--verbose", "--json")
    assert done.json["verdict"] == "reproduced"


def test_ci_writes_a_summary_and_appends_it_to_the_page(recorded, tmp_path):
    place, _ = recorded
    page = tmp_path / "page.md"
    page.write_text("# before\n")
    done = replayed(place, "--ci", "--out", tmp_path / "run", env=os.environ | {"GITHUB_STEP_SUMMARY": str(page)})
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert re.fullmatch(r"run 1/1: passed \(exited\) at \d+\.\ds\n", done.err)
    summary = (tmp_path / "run" / "summary.md").read_text()
    assert summary.startswith("# REPRODUCED: 1 of 1 runs matched\n")
    assert page.read_text() == f"# before\n{summary}"
    assert SECRET not in summary


def test_ci_elsewhere_writes_the_summary_only(recorded, tmp_path):
    place, _ = recorded
    environment = {name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"}
    done = replayed(place, "--ci", "--out", tmp_path / "run", "--json", env=environment)
    assert json.loads(done.out)["ok"] is True
    assert (tmp_path / "run" / "summary.md").exists()
    assert not (place / "None").exists()
