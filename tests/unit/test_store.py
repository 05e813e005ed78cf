"""Run directories: whole or not there; what stays of an unfinished one; and what a dead controller left."""

import os
import stat

import pytest
from openings import RUN, opening

from runner.errors import Interrupted, SetupError, UsageError
from runner.evidence.database import store_root
from runner.evidence.index import Index
from runner.evidence.leftovers import HOST_PREFIX, hold, sweep_directories
from runner.evidence.mask import Masker
from runner.evidence.observation import Artifact, Observation, Stored, Stream
from runner.evidence.removal import remove_run
from runner.evidence.store import RunDirectory, new_run_id, place_of_run
from runner.sandbox.exit import Cause, ExitStatus


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path_factory.mktemp("own") / "store"))


def seen(stdout=b"", artifacts=()):
    return Observation(index=1, status=ExitStatus(Cause.EXITED, 1), artifacts=artifacts,
                       stdout=Stream(bytes=len(stdout), head=stdout))


def state():
    with Index(store_root()) as index:
        return [(row.run_id, row.state) for row in index.rows()]


def begun(directory):
    directory.begin(("replay.started", {}), ("payload.sealed", {}))


def test_ids_never_collide():
    assert len({new_run_id() for _ in range(2000)}) == 2000


def test_a_run_goes_into_the_store_or_where_a_person_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUNNER_STORE", "")
    assert place_of_run("run_x") == tmp_path / ".runner" / "runs" / "run_x"
    assert place_of_run("run_x", tmp_path / "a" / ".." / "b") == tmp_path / "b"
    monkeypatch.setenv("RUNNER_STORE", "other")
    assert place_of_run("run_x") == tmp_path / "other" / "runs" / "run_x"


def test_what_is_kept_is_private_masked_and_there_once(tmp_path):
    masker = Masker([("API_TOKEN", "hunter22")])
    same = Artifact(b"../evil\n", b"data hunter22")
    with RunDirectory(opening(tmp_path / "out"), masker) as directory:
        begun(directory)
        kept = directory.keep(seen(b"hello hunter22", (same, same)))
        directory.record("run.judged", {"detail": "saw hunter22"})
    partial = tmp_path / f".{RUN}.partial"
    assert sorted(path.name for path in partial.iterdir()) == ["artifacts", "events.jsonl", "stdout-1.bin"]
    artifact, = (partial / "artifacts").iterdir()
    assert (artifact.read_bytes(), (partial / "stdout-1.bin").read_bytes()) == (b"data ********", b"hello ********")
    assert kept.artifacts[0].stored == Stored(bytes=13, sha256=artifact.name, masked=8)
    assert (kept.stdout.bytes, kept.stdout.kept, kept.stdout.stored.masked) == (14, b"", 8)
    assert b"saw ********" in (partial / "events.jsonl").read_bytes()
    folders = (partial, artifact.parent, store_root())
    assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    files = (artifact, partial / "stdout-1.bin", partial / "events.jsonl", store_root() / "index.db")
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert state() == [(RUN, "failed")]


@pytest.mark.parametrize(("error", "judged", "name", "stays"), [
    (Interrupted, False, "interrupted", False), (Interrupted, True, "interrupted", False),
    (KeyboardInterrupt, True, "interrupted", False), (SetupError, False, "failed", False),
    (ValueError, True, "failed", True)])
def test_what_stays_of_an_unfinished_replay(tmp_path, error, judged, name, stays):
    def replay():
        with RunDirectory(opening(tmp_path / "out")) as directory:
            begun(directory)
            directory.keep(seen(b"hello"))
            if judged:
                directory.record("run.judged", {})
            raise error("x")

    with pytest.raises(error):
        replay()
    assert [path.name for path in tmp_path.iterdir()] == ([f".{RUN}.partial"] if stays else [])
    assert state() == [(RUN, name)]
    with Index(store_root()) as index:
        assert len(index.lines(RUN)) == 2 + judged


def test_a_write_that_was_cut_short_does_not_keep_a_run_from_being_removed(tmp_path):
    with RunDirectory(opening(tmp_path / "out")) as directory:
        begun(directory)
        directory.record("run.judged", {})
    (tmp_path / f".{RUN}.partial" / ".result.json.0123.tmp").write_text("{")
    with Index(store_root()) as index:
        remove_run(index, index.rows()[0])
    assert (list(tmp_path.iterdir()), state()) == ([], [])


def test_before_it_has_begun_nothing_is_left(tmp_path):
    with RunDirectory(opening(tmp_path / "out")) as directory:
        directory.write("manifest.txt", b"x")
        assert list(tmp_path.iterdir()) != []
    assert (list(tmp_path.iterdir()), state()) == ([], [])


@pytest.mark.parametrize("kind", ["file", "full", "link"])
def test_what_is_there_already_is_never_touched(tmp_path, kind):
    place = tmp_path / "out"
    if kind == "file":
        place.write_text("x")
    elif kind == "full":
        place.mkdir()
        (place / "x").write_text("x")
    else:
        place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="not an empty directory"), RunDirectory(opening(place)):
        pass
    assert os.path.lexists(place)


def test_the_dead_are_swept_and_the_living_and_the_confirmed_are_not(tmp_path):
    temporary, runs = tmp_path / "tmp", tmp_path / "runs"
    temporary.mkdir()
    runs.mkdir()
    dead, living = temporary / (HOST_PREFIX + "dead"), temporary / (HOST_PREFIX + "living")
    partial, confirmed = runs / ".run_1.partial", runs / ".run_2.partial"
    others = [temporary / "runner-other", runs / "run_1"]
    for path in (dead, living, partial, confirmed, *others):
        path.mkdir()
        (path / "x").write_text("x")
    (partial / "events.jsonl").write_bytes(b'{"data":"\\"kind\\":\\"run.judged\\"","kind":"replay.started"}\n')
    (confirmed / "events.jsonl").write_bytes(b'{"kind":"replay.started"}\n{"data":{},"kind":"run.judged"}\n')
    (temporary / (HOST_PREFIX + "link")).symlink_to(others[0])
    held = hold(living)
    try:
        assert sweep_directories(temporary, runs, grace=3600) == ()
        assert set(sweep_directories(temporary, runs, grace=-1)) == {str(dead), str(partial)}
    finally:
        os.close(held)
    assert all((path / "x").exists() for path in (living, confirmed, *others))


@pytest.mark.parametrize("store", ["/proc/nowhere", "/dev/null", "/dev/null/store"])
def test_a_store_that_cannot_be_written_is_one_clear_line(tmp_path, monkeypatch, store):
    monkeypatch.setenv("RUNNER_STORE", store)
    with pytest.raises(UsageError, match="the store") as caught, RunDirectory(opening(tmp_path / "out")):
        pass
    assert "RUNNER_STORE" in caught.value.hint
    assert "\n" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


def test_modes_do_not_depend_on_the_umask(tmp_path):
    before = os.umask(0o777)
    try:
        with RunDirectory(opening(tmp_path / "out")) as directory:
            begun(directory)
            directory.keep(seen(b"hello", (Artifact(b"a", b"data"),)))
            partial = next(tmp_path.glob(".run_*"))
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (partial, *partial.rglob("*"))}
    finally:
        os.umask(before)
    assert modes.pop(partial.name) == modes.pop("artifacts") == 0o700
    assert set(modes.values()) == {0o600}


def test_a_name_that_no_file_system_holds_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(UsageError, match="cannot be made: File name too long"):
        RunDirectory(opening(tmp_path / ("x" * 300))).__enter__()
    assert list(tmp_path.iterdir()) == []


class Verdict:
    """Stands for a result: what the store asks of one."""

    verdict, exit_code, reasons = "reproduced", 0, ()

    def core_sha256(self):
        return "0" * 64

    def to_json(self, indent=None):
        return "{}"

    def model_copy(self, update):
        return self

    def model_dump(self, **_):
        return {"started": "2026-11-30T12:00:00Z", "finished": "2026-11-30T12:00:01Z", "verdict": "reproduced",
                "exit_code": 0, "passes": 1, "events": {"count": 1, "head": "0" * 64}}


def test_when_the_place_was_taken_meanwhile_the_evidence_stays_and_is_named(tmp_path):
    with RunDirectory(opening(tmp_path / "out")) as directory:
        begun(directory)
        directory.record("run.judged", {"index": 1})
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").touch()
        with pytest.raises(UsageError, match="cannot be written: Directory not empty") as caught:
            directory.finish(Verdict())
    partial = next(tmp_path.glob(".run_*"))
    assert str(partial) in caught.value.hint
    assert (partial / "result.json").exists()
    assert state() == [(RUN, "failed")]
