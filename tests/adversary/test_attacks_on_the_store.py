"""Threat: evidence or index are edited, swapped or planted after the fact, or a store leads somewhere else (rows 5, 9).

Whoever can write the files can drop the triggers too, so each attack does: what must hold is that the reader notices.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stored_runs import FAILS, PASSES, make_evidence

from runner.cli.runs import command
from runner.errors import EvidenceAltered, UsageError
from runner.evidence.events import canonical
from runner.evidence.index import Index, find_run
from runner.evidence.removal import remove_run

CLEAR = "\x1b[2J\x1b]0;owned\x07\n\u202egnp"
EVENTS = 5


@dataclass(frozen=True)
class Target:
    """A store with one finished run, its directory, and an attacker's connection that has no triggers any more."""

    root: Path
    run_id: str
    directory: Path
    raw: sqlite3.Connection

    def set(self, column: str, value: object) -> None:
        """Edit the row."""
        self.raw.execute(f"UPDATE runs SET {column} = ?", (value,))

    def rewrite(self, seq: int, change: str, into: str) -> None:
        """Edit an event and everything in the index that hangs on it, as far as nobody recomputes."""
        line, = self.raw.execute("SELECT line FROM events WHERE seq = ?", (seq,)).fetchone()
        assert change in line
        self.raw.execute("UPDATE events SET line = ? WHERE seq = ?", (line.replace(change, into), seq))


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    root = tmp_path / "store"
    monkeypatch.setenv("RUNNER_STORE", str(root))
    evidence = make_evidence(tmp_path / "case", (FAILS, PASSES))
    raw = sqlite3.connect(root / "index.db", isolation_level=None)
    for name, in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    yield Target(root, evidence.result.run_id, evidence.directory, raw)
    raw.close()


def runs(*words: str) -> Result:
    """``runner runs WORDS``; one line of complaint at most."""
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.stderr.count("\n") <= 1
    return done


def refused(done: Result, said: str) -> None:
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert done.stdout == ""


def test_what_is_whole_is_shown(target: Target) -> None:
    assert runs("show", target.run_id).stdout.startswith("NOT REPRODUCED: 1 of 2 runs matched\n")
    assert len(runs("show", "latest", "--events").stdout.splitlines()) == EVENTS


@pytest.mark.parametrize(("column", "value"), [
    ("verdict", "reproduced"), ("exit_code", 0), ("passes", 2), ("runs", 1), ("backend", "host"), ("command", "true"),
    ("report", "/other"), ("report_sha256", "0" * 64), ("started", "2020-01-01T00:00:00.000Z"),
    ("finished", "2020-01-01T00:00:00.000Z")])
def test_an_edited_row_is_found(target: Target, column: str, value: object) -> None:
    """Row 9: what a listing says is only said; showing compares it with the evidence."""
    target.set(column, value)
    refused(runs("show", target.run_id), f"{column} in the index is not that of the evidence")


def test_an_edited_digest_of_the_result_is_found(target: Target) -> None:
    target.set("result_sha256", "0" * 64)
    refused(runs("show", target.run_id), "not the evidence that was stored")
    with pytest.raises(EvidenceAltered):
        find_run("latest", target.root)


@pytest.mark.parametrize("seq", [1, 2, 3, 5])
def test_an_edited_event_is_found(target: Target, seq: int) -> None:
    target.rewrite(seq, '"seq":', '"seq": ')
    refused(runs("show", target.run_id), f"event {seq} in the index was altered")


def test_an_event_edited_with_its_digest_is_found(target: Target) -> None:
    target.rewrite(4, '"accepted":false', '"accepted":true')
    line, = target.raw.execute("SELECT line FROM events WHERE seq = 4").fetchone()
    from hashlib import sha256  # beside its use: the attacker's step

    target.raw.execute("UPDATE events SET sha256 = ? WHERE seq = 4", (sha256(line.encode()).hexdigest(),))
    refused(runs("show", target.run_id), "different event logs")


@pytest.mark.parametrize("seq", range(1, EVENTS + 1))
def test_a_deleted_event_is_found(target: Target, seq: int) -> None:
    target.raw.execute("DELETE FROM events WHERE seq = ?", (seq,))
    refused(runs("show", target.run_id), "different event logs")


def test_a_deleted_event_of_a_killed_run_is_found(target: Target) -> None:
    target.set("state", "killed")
    assert "1 of" not in runs("show", target.run_id).stdout
    target.raw.execute("DELETE FROM events WHERE seq = 3")
    refused(runs("show", target.run_id), "event 3 is event 4")
    target.raw.execute("DELETE FROM events")
    refused(runs("show", target.run_id), "has lost its events")


def test_a_consistent_forgery_of_the_directory_is_found_by_the_index(target: Target, tmp_path: Path) -> None:
    """Everything in a run directory rewritten, every digest right: only the index knows better."""
    other = make_evidence(tmp_path / "other", (FAILS, FAILS))
    shutil.rmtree(target.directory)
    shutil.copytree(other.directory, target.directory)
    refused(runs("show", target.run_id), "not the evidence that was stored")
    for reference in (target.run_id, str(target.directory)):
        with pytest.raises(EvidenceAltered, match="not the evidence"):
            find_run(reference, target.root)


def test_a_swapped_directory_is_never_removed(target: Target, tmp_path: Path) -> None:
    shutil.rmtree(target.directory)
    target.directory.mkdir()
    (target.directory / "thesis.tex").write_text("years of work")
    refused(runs("rm", target.run_id, "--yes"), "cannot be read")
    (target.directory / "result.json").write_text("{}")
    refused(runs("rm", target.run_id, "--yes"), "nothing was removed")
    assert (target.directory / "thesis.tex").read_text() == "years of work"
    assert "1/2" in runs("list").stdout


@pytest.mark.parametrize("kind", ["directory", "result"])
def test_a_link_in_place_of_a_run_is_not_followed(target: Target, tmp_path: Path, kind: str) -> None:
    """Row 5: not even to the true evidence."""
    elsewhere = tmp_path / "elsewhere"
    place = target.directory if kind == "directory" else target.directory / "result.json"
    place.rename(elsewhere)
    place.symlink_to(elsewhere)
    refused(runs("show", target.run_id), "cannot be read")
    refused(runs("rm", target.run_id, "--yes"), "nothing was removed")
    assert elsewhere.exists()


def test_links_within_a_run_are_removed_and_not_what_they_point_to(target: Target, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "x").write_text("x")
    (target.directory / "link").symlink_to(precious)
    (target.directory / "artifacts" / "link").symlink_to(precious / "x")
    assert runs("rm", target.run_id, "--yes").exit_code == 0
    assert (precious / "x").read_text() == "x"
    assert not target.directory.exists()


@pytest.mark.parametrize("planted", ["root", "index.db", "index.db-wal", "index.db-shm"])
def test_a_link_in_place_of_the_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str) -> None:
    """Row 5: a checkout that brings a `.runner` of its own: nothing is written where it points."""
    root, aim = tmp_path / "store", tmp_path / "aim"
    monkeypatch.setenv("RUNNER_STORE", str(root))
    if planted == "root":
        aim.mkdir()
        Index(aim).__exit__()
        root.symlink_to(aim)
    else:
        Index(root).__exit__()
        aim.write_text("mine")
        (root / planted).unlink(missing_ok=True)
        (root / planted).symlink_to(aim)
    before = sorted(aim.iterdir()) if aim.is_dir() else aim.read_text()
    refused(runs("list"), "RUNNER_STORE")
    with pytest.raises(UsageError, match=r"link|not a private file"):
        make_evidence(tmp_path / "case")
    assert before == (sorted(aim.iterdir()) if aim.is_dir() else aim.read_text())


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o602])
def test_an_index_that_others_could_have_written_is_refused(target: Target, mode: int) -> None:
    """A checkout cannot bring one that looks private."""
    (target.root / "index.db").chmod(mode)
    refused(runs("list"), "not a private file of yours")


def test_hostile_text_does_not_reach_a_terminal(target: Target) -> None:
    """Row 9: in a listing, in JSON, in a message, and in the text of a killed run."""
    for column in ("command", "report", "backend", "verdict"):
        target.set(column, CLEAR)
    target.set("directory", os.fsencode(f"/x/{CLEAR}"))
    target.set("run_id", f"run_{CLEAR}")
    target.raw.execute("UPDATE events SET run_id = ?", (f"run_{CLEAR}",))
    for words in (("list",), ("list", "--json"), ("show", "latest"), ("show", CLEAR), ("rm", "latest", "--yes")):
        done = runs(*words)
        assert all(char.isprintable() or char == "\n" for char in done.output), words
        assert done.output.count("\n") <= 2
    target.set("state", "killed")
    done = runs("show", "run_")
    assert all(char.isprintable() or char == "\n" for char in done.output)


@pytest.mark.parametrize("holds", [".git", "src/", "artifacts/deep/", "artifacts/.hidden"])
def test_a_planted_row_cannot_make_us_remove_a_home(target: Target, tmp_path: Path, holds: str) -> None:
    """Not even when the index was brought along with a result.json that has the right digest."""
    home = tmp_path / "home"
    shutil.copytree(target.directory, home)
    (home / holds).mkdir(parents=True)
    target.set("directory", os.fsencode(home))
    refused(runs("rm", target.run_id, "--yes"), f"holds {holds.rstrip('/')}, which is no part of a run")
    assert (home / holds).is_dir()
    target.set("state", "killed")
    with Index(target.root) as index:
        remove_run(index, index.rows()[0])
    assert (home / holds).is_dir()


def test_a_planted_row_cannot_make_us_remove_what_is_no_run(target: Target, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    target.set("directory", os.fsencode(tmp_path / "home"))
    refused(runs("rm", target.run_id, "--yes"), "nothing was removed")
    assert (tmp_path / "home").is_dir()


def test_an_unfinished_removal_does_not_take_what_came_to_its_place(target: Target) -> None:
    """A kill between the note and the removal, then a stranger's directory under the same name."""
    target.raw.execute("INSERT INTO removals VALUES (?, 'now', ?, 5, 'x', ?, 0)",
                       (target.run_id, os.fsencode(target.directory), "0" * 64))
    target.raw.execute("DELETE FROM events")
    target.raw.execute("DELETE FROM runs")
    assert runs("list").stdout == "no runs\n"
    assert (target.directory / "result.json").exists()
    assert target.raw.execute("SELECT files_gone FROM removals").fetchall() == [(1,)]


def test_a_forged_end_does_not_make_a_killed_run_whole(target: Target) -> None:
    """Recovery completes only the very result whose digest was confirmed."""
    target.raw.execute("UPDATE runs SET state = 'running', finished = NULL, verdict = NULL, result_sha256 = NULL")
    document = json.loads((target.directory / "result.json").read_text())
    document["verdict"] = "reproduced"
    (target.directory / "result.json").write_bytes(canonical(document))
    listed = json.loads(runs("list", "--json").stdout)["runs"]
    assert [(row["state"], row["verdict"]) for row in listed] == [("killed", None)]


def test_one_that_was_cut_short_by_nothing_is_completed(target: Target) -> None:
    """The other side of the same: an untouched result is taken."""
    target.raw.execute("UPDATE runs SET state = 'running', finished = NULL, verdict = NULL, result_sha256 = NULL")
    listed = json.loads(runs("list", "--json").stdout)["runs"]
    assert [(row["state"], row["verdict"]) for row in listed] == [("finished", "not_reproduced")]
    assert runs("show", target.run_id).exit_code == 0
