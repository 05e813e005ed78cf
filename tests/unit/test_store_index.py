"""The index: what its schema refuses by itself, whoever writes to it; who is found by which name; its age."""

import os
import sqlite3
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from openings import RUN, WHOLE, add_finished, chain, closing, opening

from runner.errors import EvidenceAltered, SetupError, UsageError
from runner.evidence.database import MIGRATIONS, is_store, open_database, schema_version, store_root
from runner.evidence.events import START, canonical
from runner.evidence.index import STATES, Index, find_run, resolve
from runner.evidence.removal import remove_run

OTHER = "run_20261130_120001_0a0b0c0d"


@pytest.fixture
def root(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def index(root):
    """A store with a running replay, two events, and a finished one."""
    with Index(root) as opened:
        opened.register(opening(root / "runs" / RUN), chain())
        add_finished(opened, OTHER, root / "runs" / OTHER)
        yield opened


@pytest.fixture
def raw(index, root):
    """Somebody else's connection: no setting of ours, any statement."""
    connection = sqlite3.connect(root / "index.db", isolation_level=None)
    yield connection
    connection.close()


def insert(event, **changes):
    """An INSERT of an event, with columns changed."""
    row = {"run_id": event.run_id, "seq": event.seq, "at": event.at, "kind": event.kind, "line": event.line().decode(),
           "sha256": event.digest(), "previous": event.previous} | changes
    return f"INTO events ({', '.join(row)}) VALUES ({', '.join(repr(value) for value in row.values())})"


NEXT = chain(RUN, "replay.started", "payload.sealed", "run.judged")[2]
AFTER = chain(OTHER, *WHOLE, "run.judged")[4]
FIRST = chain()[0]
UNKNOWN = chain("run_unknown")[0]


@pytest.mark.parametrize(("statement", "said"), [
    ("UPDATE events SET line = 'x'", "an event does not change"),
    (f"UPDATE events SET seq = seq + 10 WHERE run_id = '{RUN}'", "an event does not change"),
    ("UPDATE OR REPLACE events SET seq = 1", "an event does not change"),
    ("DELETE FROM events", "an event is not deleted"),
    (f"DELETE FROM events WHERE run_id = '{RUN}' AND seq = 2", "an event is not deleted"),
    ("INSERT " + insert(NEXT, seq=4, previous=START), "not the next one"),
    ("INSERT " + insert(NEXT, seq=2, previous=FIRST.digest()), "not the next one"),
    ("INSERT " + insert(NEXT, seq=0, previous=START), "not the next one"),
    ("INSERT OR REPLACE " + insert(FIRST), "not the next one"),
    ("REPLACE " + insert(FIRST, line="{}"), "not the next one"),
    ("INSERT " + insert(NEXT, previous="ab" * 32), "does not follow the one before"),
    ("INSERT " + insert(NEXT, previous=START), "does not follow the one before"),
    ("INSERT " + insert(NEXT, sha256="AB" * 32), "CHECK constraint failed"),
    ("INSERT " + insert(NEXT, sha256="ab"), "CHECK constraint failed"),
    ("INSERT " + insert(AFTER), "no such run is running"),
    ("INSERT " + insert(UNKNOWN), "no such run is running"),
    (f"UPDATE runs SET verdict = 'reproduced' WHERE run_id = '{OTHER}'", "has ended does not change"),
    (f"UPDATE runs SET state = 'running' WHERE run_id = '{OTHER}'", "has ended does not change"),
    (f"UPDATE runs SET directory = x'00' WHERE run_id = '{OTHER}'", "does not change"),
    (f"UPDATE runs SET run_id = 'x' WHERE run_id = '{OTHER}'", "does not change"),
    (f"UPDATE runs SET command = 'x' WHERE run_id = '{RUN}'", "began with does not change"),
    (f"UPDATE runs SET run_id = 'x' WHERE run_id = '{RUN}'", "began with does not change"),
    (f"UPDATE runs SET state = 'finished' WHERE run_id = '{RUN}'", "end of its log"),
    ("DELETE FROM runs", "a run is not deleted"),
    ("INSERT INTO runs SELECT * FROM runs LIMIT 1", "the run is there already"),
    (("INSERT INTO runs (run_id, directory, state, started, command, report, report_sha256, backend, runs) "
     "VALUES ('run_new', x'00', 'killed', '', '', '', '', '', 1)"), "begins as running"),
    ("INSERT OR REPLACE INTO runs SELECT * FROM runs LIMIT 1", "the run is there already"),
    (f"INSERT INTO removals VALUES ('{RUN}', 'now', x'00', 0, '', NULL, 0)", "only a run that has ended"),
    ("INSERT INTO removals VALUES ('run_unknown', 'now', x'00', 0, '', NULL, 0)", "only a run that has ended"),
])
def test_the_schema_refuses(raw, statement, said):
    before = list(raw.iterdump())
    with pytest.raises(sqlite3.IntegrityError, match=said):
        raw.execute(statement)
    assert list(raw.iterdump()) == before


def test_a_finished_run_must_name_the_end_of_its_log(index):
    events = chain(RUN, *WHOLE)
    for event in events[2:]:
        index.append(event)
    for wrong in ({"events_count": 3}, {"events_head": "ab" * 32}, {"events_head": events[2].digest()}):
        with pytest.raises(SetupError, match="end of its log"):
            index.finish(RUN, closing(events, **wrong))
    index.finish(RUN, closing(events))
    with pytest.raises(SetupError, match="no such run is running"):
        index.append(chain(RUN, *WHOLE, "run.judged")[4])


def test_a_run_whose_last_event_is_no_verdict_cannot_finish(index):
    with pytest.raises(SetupError, match="end of its log"):
        index.finish(RUN, closing(chain()))


def test_a_removal_is_the_only_way_to_delete_and_leaves_its_trace(index, raw):
    row, = index.rows("run_id = ?", (OTHER,))
    remove_run(index, row)
    head = chain(OTHER, *WHOLE)[-1].digest()
    assert index.query("SELECT run_id, events_count, events_head, files_gone FROM removals") == [(OTHER, 4, head, 1)]
    assert ([row.run_id for row in index.rows()], index.lines(OTHER)) == ([RUN], [])
    for statement in ("DELETE FROM removals", "UPDATE removals SET events_head = 'x'",
                      "UPDATE removals SET files_gone = 0", "UPDATE removals SET result_sha256 = NULL"):
        with pytest.raises(sqlite3.IntegrityError):
            raw.execute(statement)
    with pytest.raises(SetupError, match="was removed"):
        index.register(opening(Path("/x"), OTHER))


def test_a_transaction_that_fails_leaves_nothing(index):
    first, second = chain(OTHER.replace("01_", "02_"))
    with pytest.raises(SetupError, match=r"not the next one|does not follow"):
        index.register(opening(Path("/x"), first.run_id), [first, replace(second, seq=3)])
    assert len(index.rows()) == 2
    index.append(NEXT)
    assert len(index.lines(RUN)) == 3


def test_an_event_that_was_altered_in_the_file_is_found(index, raw):
    raw.execute("DROP TRIGGER events_do_not_change")
    raw.execute("UPDATE events SET line = replace(line, '\"n\":2', '\"n\":3')")
    with pytest.raises(EvidenceAltered, match="event 2 in the index was altered"):
        index.lines(RUN)


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_store_of_every_age_is_brought_up_to_date(root, version):
    old = open_database(root, MIGRATIONS[:version])
    assert schema_version(old) == version
    if version >= 1:
        old.execute("INSERT INTO runs (run_id, directory, started, command, report, report_sha256, backend, runs) "
                    "VALUES ('run_old', x'2f78', '2026', 'c', 'r', 's', 'docker', 1)")
    if version >= 2:
        event = chain("run_old")[0]
        old.execute("INSERT " + insert(event))
    old.close()
    with Index(root) as index:
        assert [row.run_id for row in index.rows()] == ["run_old"] * (version >= 1)
        assert len(index.lines("run_old")) == (version >= 2)
        index.register(opening(root / "runs" / RUN), chain())
        assert [number for number, in index.query("SELECT number FROM migrations")] == [1, 2, 3]
        schema = index.query("SELECT sql FROM sqlite_master ORDER BY name")
    with Index(root.parent / "fresh") as fresh:
        assert fresh.query("SELECT sql FROM sqlite_master ORDER BY name") == schema


def test_a_newer_store_is_refused_in_one_line(root):
    with Index(root) as index, index.transaction() as connection:
        connection.execute("INSERT INTO migrations VALUES (4, '0004_future.sql', 'then')")
    with pytest.raises(UsageError, match=r"newer runner \(schema 4, this one knows 3\)") as caught:
        Index(root)
    assert "RUNNER_STORE" in caught.value.hint
    assert "\n" not in caught.value.message


def test_a_migration_that_fails_changes_nothing(root, tmp_path, monkeypatch):
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0001_bad.sql").write_text("CREATE TABLE one (x);\nCREATE TABLE one (x);\n")
    monkeypatch.setattr("runner.evidence.database._FOLDER", folder)
    with pytest.raises(UsageError, match="already exists"):
        open_database(root, ("0001_bad.sql",))
    raw = sqlite3.connect(root / "index.db")
    assert raw.execute("SELECT name FROM sqlite_master").fetchall() == []
    raw.close()


def test_a_store_is_private_and_unseen_by_git(root):
    Index(root).__exit__()
    assert (root / ".gitignore").read_text() == "*\n"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in root.iterdir()} == {0o600}


def test_a_directory_that_was_there_keeps_its_mode_and_is_seen_by_git(root):
    root.mkdir(mode=0o755)
    (root / "theirs").touch()
    Index(root).__exit__()
    assert stat.S_IMODE(root.stat().st_mode) == 0o755
    assert not (root / ".gitignore").exists()


@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_a_directory_that_others_can_write_to_is_no_store(root, mode):
    root.mkdir()
    root.chmod(mode)
    with pytest.raises(UsageError, match="others can write"):
        Index(root)
    assert stat.S_IMODE(root.stat().st_mode) == mode
    assert list(root.iterdir()) == []


def test_what_is_told_waits_for_the_disk_and_what_can_be_told_again_does_not(index):
    assert index.query("PRAGMA journal_mode") == [("wal",)]
    index.append(NEXT)
    assert index.query("PRAGMA synchronous") == [(2,)]
    add_finished(index, OTHER.replace("120001", "120009"))
    assert index.query("PRAGMA synchronous") == [(1,)]
    index.end(RUN, "failed", "2026")
    assert index.query("PRAGMA synchronous") == [(2,)]


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be looked at" * 100])
def test_a_file_that_is_no_index(root, content):
    root.mkdir()
    (root / "index.db").write_bytes(content)
    (root / "index.db").chmod(0o600)
    if not content:
        Index(root).__exit__()  # a kill just after it was made
        return
    with pytest.raises(UsageError, match="damaged, or no store of runner"):
        Index(root)


def test_where_the_store_is(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RUNNER_STORE")
    assert store_root() == tmp_path / ".runner"
    monkeypatch.setenv("RUNNER_STORE", "/somewhere/else")
    assert store_root() == Path("/somewhere/else")
    assert not is_store(tmp_path / ".runner")


def test_a_run_is_found_by_its_names(index, root):
    later = OTHER.replace("120001", "120002")
    add_finished(index, later, root / "a place", started="2026-11-30T12:00:02.000Z")
    (root / "a place").mkdir()
    assert resolve(index, "latest").run_id == later
    for reference in (RUN, OTHER, later, RUN[:-1]):
        assert resolve(index, reference).run_id == (RUN if reference == RUN[:-1] else reference)
    assert resolve(index, str(root / "a place")).run_id == later
    assert resolve(index, str(root / "a place" / ".." / "a place")).run_id == later
    assert resolve(index, str(root)) is None
    with pytest.raises(UsageError, match=r"the beginning of 3 runs: .*, .*, "):
        resolve(index, "run_2026")
    for nothing in ("", "run_1", "nope", "%", "_un", "./nope", "run_\udcff", "x" * 5000, "a\0b"):
        with pytest.raises(UsageError, match="no run"):
            resolve(index, nothing)


def test_nothing_is_made_by_looking(tmp_path):
    with pytest.raises(UsageError, match="no such run"):
        find_run("latest", tmp_path / "nothing")
    assert find_run(str(tmp_path), tmp_path / "nothing") == tmp_path
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("state", [state for state in STATES if state != "finished"])
def test_a_run_without_a_result_is_no_directory(index, root, state):
    index.end(RUN, state, "2026-11-30T13:00:00.000Z")
    with pytest.raises(UsageError, match=f"has no result: it is {state}"):
        find_run(RUN, root)


def test_lines_are_stored_as_they_are(index):
    assert index.lines(RUN) == [event.line() for event in chain()]
    assert b"\n".join(index.lines(RUN)).startswith(canonical({"at": chain()[0].at})[:-1])


def test_paths_of_any_bytes_are_kept(index, root):
    place = os.fsencode(root) + b"/\xff\n\x1b[2J"
    index.register(opening(root, OTHER.replace("120001", "120003"))._replace(directory=place))
    assert os.fsencode(index.rows()[0].path) == place
