"""mmdebstrap as a child: missing, failing, and interrupted, when nothing of it may stay."""

from __future__ import annotations

import os
import select
from pathlib import Path

import pytest

from runner.errors import SetupError
from runner.images import process
from runner.images.inputs import EPOCH


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that stands in for mmdebstrap; the test writes its text."""
    path = tmp_path / "bin" / process.TOOL
    path.parent.mkdir()
    path.touch(mode=0o755)
    monkeypatch.setattr(process, "_PATH", f"{path.parent}:/usr/bin:/bin")
    return path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_missing_tool_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process, "_PATH", str(tmp_path))
    with pytest.raises(SetupError, match="mmdebstrap is not installed") as caught:
        process.require_tool()
    assert "apt-get install mmdebstrap" in caught.value.hint


def test_a_failure_shows_what_was_said_last(tool: Path, work: Path) -> None:
    tool.write_text("#!/bin/sh\nprintf 'noise\\ninit.c:3: error: no\\nE: setup failed\\nE: more\\n'\nexit 25\n")
    with pytest.raises(SetupError, match=r"exit 25.*init\.c:3: error: no; E: setup failed$"):
        process.run_tool([], work)


def test_a_failure_without_words_is_one_line_too(tool: Path, work: Path) -> None:
    tool.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(SetupError, match="it said nothing"):
        process.run_tool([], work)


def test_the_child_gets_a_small_environment_and_our_time_stamp(
        tool: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("https_proxy", "http://proxy.invalid")
    tool.write_text("#!/bin/sh\nenv > env\n")
    process.run_tool([], work)
    names = dict(line.split("=", 1) for line in (work / "env").read_text().splitlines())
    assert "SECRET" not in names
    assert names["SOURCE_DATE_EPOCH"] == str(EPOCH)
    assert names["https_proxy"] == "http://proxy.invalid"
    assert names["TMPDIR"] == str(work)


def test_an_interrupt_ends_the_child_and_its_children(tool: Path, work: Path) -> None:
    # The grandchild ignores TERM: it is the one that would stay behind.
    tool.write_text("#!/bin/sh\n(trap '' TERM; exec sleep 1000) &\necho $! > grandchild\nkill -INT $PPID\nwait\n")
    with pytest.raises(KeyboardInterrupt):
        process.run_tool([], work)
    await_end(int((work / "grandchild").read_text()))


def await_end(pid: int) -> None:
    """Return once the process has ended; fail when it does not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], 30)[0], f"process {pid} still runs"
    finally:
        os.close(descriptor)


def test_a_child_that_ignores_term_is_killed(tool: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE", 0.2)
    tool.write_text("#!/bin/sh\ntrap '' TERM\necho $$ > pid\nkill -INT $PPID\nwhile :; do sleep 1000; done\n")
    with pytest.raises(KeyboardInterrupt):
        process.run_tool([], work)
    pid = int((work / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
