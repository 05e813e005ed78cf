"""A file of ours is whole or not there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from runner.errors import RunnerError, SetupError, UsageError
from runner.evidence.files import write_atomically


def test_it_writes_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    write_atomically(target, b"one")
    write_atomically(target, b"two" * 100_000)
    assert target.read_bytes() == b"two" * 100_000
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_the_mode_is_what_was_asked_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "private", b"")
        write_atomically(tmp_path / "public", b"", mode=0o644)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o644


def test_a_link_is_refused_and_neither_end_is_touched(tmp_path: Path) -> None:
    victim, link = tmp_path / "victim", tmp_path / "link"
    victim.write_bytes(b"mine")
    link.symlink_to(victim)
    with pytest.raises(UsageError, match="symbolic link"):
        write_atomically(link, b"theirs")
    assert link.is_symlink()
    assert victim.read_bytes() == b"mine"


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for target in (tmp_path, tmp_path / "fifo", Path("/dev/null")):
        with pytest.raises(UsageError, match="not a regular file"):
            write_atomically(target, b"x")


@pytest.mark.parametrize("name", ["none/report.json", "a\0b", "x" * 300, "none\n\x1b/x"])
def test_a_place_that_cannot_be_written_is_one_printable_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        write_atomically(f"{tmp_path}/{name}", b"x")
    assert caught.value.message.isprintable()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str,
                                                    fault: BaseException) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((RunnerError, KeyboardInterrupt)) as caught:
        write_atomically(target, b"new")
    monkeypatch.undo()
    assert isinstance(caught.value, SetupError if isinstance(fault, OSError) else KeyboardInterrupt)
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
