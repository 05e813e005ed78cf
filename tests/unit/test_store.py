"""Run directories: whole or not there; and what a dead controller left."""

import os
import stat
from hashlib import sha256

import pytest

from runner.errors import UsageError
from runner.evidence.leftovers import HOST_PREFIX, hold, sweep_directories
from runner.evidence.observation import Artifact, Observation, Stream
from runner.evidence.store import RunDirectory, new_run_id
from runner.sandbox.exit import Cause, ExitStatus


class Written:
    """Stands for a result: what the store asks of one."""

    verdict, exit_code, reasons = "reproduced", 0, ()

    def to_json(self, indent=None):
        return "{}"

    def core_sha256(self):
        return "0" * 64

    def model_copy(self, update):
        return self


def seen(stdout=b"", artifacts=()):
    return Observation(index=1, status=ExitStatus(Cause.EXITED, 1), artifacts=artifacts,
                       stdout=Stream(bytes=len(stdout), head=stdout))


def test_ids_never_collide():
    assert len({new_run_id() for _ in range(2000)}) == 2000


def test_a_finished_directory_is_private_and_whole(tmp_path):
    place = tmp_path / "out"
    with RunDirectory("run_x", place) as directory:
        kept = directory.keep(seen(b"hello", (Artifact(b"../evil\n", b"data"),)))
        directory.finish(Written())
    assert sorted(path.name for path in place.iterdir()) == ["artifacts", "events.jsonl", "result.json",
                                                                   "stdout-1.bin"]
    assert (place / "artifacts" / sha256(b"data").hexdigest()).read_bytes() == b"data"
    assert (kept.stdout.bytes, kept.stdout.kept) == (5, b"")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (place, place / "result.json", place / "stdout-1.bin")}
    assert modes == {0o700, 0o600}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_without_finish_nothing_is_left(tmp_path):
    with RunDirectory("run_x", tmp_path / "out") as directory:
        directory.keep(seen(b"hello"))
        assert list(tmp_path.iterdir()) != []
    assert list(tmp_path.iterdir()) == []


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
    with pytest.raises(UsageError, match="not an empty directory"), RunDirectory("run_x", place):
        pass
    assert os.path.lexists(place)


def test_the_dead_are_swept_and_the_living_are_not(tmp_path):
    temporary, runs = tmp_path / "tmp", tmp_path / "runs"
    temporary.mkdir()
    runs.mkdir()
    dead, living = temporary / (HOST_PREFIX + "dead"), temporary / (HOST_PREFIX + "living")
    partial = runs / ".run_1.partial"
    others = [temporary / "runner-other", runs / "run_1"]
    for path in (dead, living, partial, *others):
        path.mkdir()
        (path / "x").write_text("x")
    (temporary / (HOST_PREFIX + "link")).symlink_to(others[0])
    held = hold(living)
    try:
        assert sweep_directories(temporary, runs, grace=3600) == ()
        assert set(sweep_directories(temporary, runs, grace=-1)) == {str(dead), str(partial)}
    finally:
        os.close(held)
    assert all((path / "x").exists() for path in (living, *others))
