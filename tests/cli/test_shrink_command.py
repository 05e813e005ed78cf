"""``runner shrink``: LOKI's crash sample before a player that knows the application; options, places and ends."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from shrinking import TERMS, Knowing

from runner.cli import shrink as room
from runner.cli.shrink import command
from runner.controller.shrinking.shrink import Kept
from runner.incidents.read import read_incident

CRASH = Path(__file__).parents[1] / "data" / "loki" / "crash"
TYPE_ERROR, HTTP_500 = (failure.identity.id for failure in read_incident(CRASH).failures)


class Shop(Knowing):
    """The buggy sample: a second click on #pay before the first one's answer throws; #report is always a 500."""

    def __init__(self, last=None):
        super().__init__(lambda _: False, last)

    def play(self, candidate):
        super().play(candidate)
        clicks = [(step.selector, step.repeat) for step in candidate.trace]
        return frozenset([TYPE_ERROR] * any(selector == "#pay" and repeat > 1 for selector, repeat in clicks)
                         + [HTTP_500] * any(selector == "#report" for selector, _ in clicks))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.py").write_text("")
    return tmp_path


@pytest.fixture
def shrink(place, monkeypatch):
    """Runs the command before this player."""
    @contextmanager
    def prepared(*_):
        yield SimpleNamespace(terms=lambda: TERMS)

    @contextmanager
    def pages():
        with (place / "pages").open("a") as file:
            yield lambda directory: file.write(f"{directory}\n")

    def run(player, *words, shown=True):
        monkeypatch.setattr(room, "open_pair_backend", lambda: None)
        monkeypatch.setattr(room, "prepared", prepared)
        monkeypatch.setattr(room, "SandboxPlayer", lambda _: player)
        monkeypatch.setattr(room, "keeper", lambda _, runs, out, several: lambda failure, __: Kept(
            Path(out or "store") / failure.identity.id, shown))
        monkeypatch.setattr(room, "page_writer", pages)
        return CliRunner().invoke(command, [str(CRASH), "--payload", "app", "--target-command", "python3 app.py",
                                            *words])
    return run


def test_two_failures_end_at_one_step_each(shrink):
    done = shrink(Shop(), "--yes", "--json", "--quiet")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["ok"], found["exit_code"], done.stderr) == (True, 0, "")
    assert [(each["id"], each["state"], each["before"]["steps"], each["after"]["steps"])
            for each in found["failures"]] == [(TYPE_ERROR, "shrunk", 8, 1), (HTTP_500, "shrunk", 8, 1)]
    pay, report = (each["trace"] for each in found["failures"])
    assert [(step["selector"], step.get("repeat", 1)) for step in (*pay, *report)] == [("#pay", 2), ("#report", 1)]
    assert all(each["tried"] <= 14 for each in found["failures"])
    assert found["failures"][1]["cached"] >= 3
    assert found["failures"][0]["directory"].endswith(TYPE_ERROR)


def test_in_words_and_with_progress(shrink, place):
    done = shrink(Shop(), "--yes", "--identity", "reading 'items'", "--out", "short")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"SHRUNK: {TYPE_ERROR} {read_incident(CRASH).failures[0].identity.key}",
        "  from 8 steps, 40 actions to 1 step, 2 actions", "  1. click #pay 2 times", f"  kept in short/{TYPE_ERROR}",
        f"  {len(done.stderr.splitlines())} candidates, 0 of them known before"]
    assert done.stderr.splitlines()[0].startswith(f"{TYPE_ERROR} candidate 1: 8 steps, 40 actions: shows (at ")
    assert done.stderr.endswith("; 1 step, 2 actions left\n")
    assert (place / "pages").read_text() == f"short/{TYPE_ERROR}\n"


@pytest.mark.parametrize("jobs", ["2", "4"])
def test_several_at_once_find_the_same(shrink, jobs):
    one, more = (json.loads(shrink(Shop(), "--yes", "--json", "--quiet", *words).stdout)
                 for words in ((), ("--jobs", jobs)))
    assert [each["trace"] for each in more["failures"]] == [each["trace"] for each in one["failures"]]


def test_interrupted_it_goes_on_where_it_was(shrink):
    first, second = Shop(last=5), Shop()
    cut = shrink(first, "--yes", "--quiet")
    assert (cut.exit_code, cut.stdout, len(first.played)) == (130, "", 5)
    done = json.loads(shrink(second, "--yes", "--json", "--quiet").stdout)
    assert [each["after"]["actions"] for each in done["failures"]] == [2, 1]
    assert done["failures"][0]["cached"] == 5
    assert not set(first.played) & set(second.played)


@pytest.mark.parametrize(("player", "shown", "code", "state"), [
    (Knowing(lambda _: False), True, 1, "not_shown"), (Knowing(lambda _: None), True, 3, "undecided"),
    (Shop(), False, 3, "unconfirmed")])
def test_what_was_not_shown_has_its_exit_code(shrink, player, shown, code, state):
    done = shrink(player, "--yes", "--json", "--quiet", shown=shown)
    assert done.exit_code == code
    assert {each["state"] for each in json.loads(done.stdout)["failures"]} == {state}
    assert json.loads(done.stdout)["ok"] is False


def test_without_yes_the_plan_is_shown_and_nothing_runs(shrink, place):
    player = Shop()
    done = shrink(player)
    assert (done.exit_code, player.played) == (2, [])
    assert "plays        8 steps in chromium" in done.stdout
    assert not (place / "store").exists()


@pytest.mark.parametrize(("words", "said"), [
    (("--identity", "no such"), "no recorded failure is meant"), (("--out", "."), "exists already"),
    (("--out", "app/short"), "app/short"), (("--jobs", "0"), "--jobs"), (("--runs", "101"), "--runs"),
    (("--policy", "nope"), "policy")])
def test_bad_options_are_one_line(shrink, words, said):
    player = Shop()
    done = shrink(player, "--yes", *words)
    assert (done.exit_code, player.played) == (2, [])
    assert said in done.stderr


def test_a_journal_that_was_changed_is_told(shrink, place):
    assert shrink(Shop(), "--yes", "--quiet").exit_code == 0
    journal, = (place / "store" / "shrinks").iterdir()
    journal.write_bytes(journal.read_bytes().replace(b'"seen":[]', b'"seen":["x"]', 1))
    done = shrink(Shop(), "--yes", "--json")
    assert done.exit_code == 2
    assert json.loads(done.stdout)["code"] == "evidence"
    assert "remove the file to start over" in json.loads(done.stdout)["hint"]
