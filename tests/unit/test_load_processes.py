"""Programs of a scenario: their end, by themselves or not, and what they write meanwhile."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from runner.load_driver import processes, stopping
from runner.load_driver.copying import Copier, Tail
from runner.load_driver.processes import Ended, end_group, run
from runner.load_driver.stopping import Stop

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_SECONDS", 0.2)
    monkeypatch.setattr(processes, "KILL_SECONDS", 0.5)


def ran(folder: Path, *argv: str, seconds: float = 20.0, out: Tail | None = None, cap: int = 1 << 40,
        stop: Stop | None = None, leave: bool = False) -> tuple[Ended, Copier]:
    said, complained = Copier((out or Tail(1000)).add, cap), Copier(Tail(1000).add, cap)
    return run(argv, cwd=folder, env={"PATH": os.environ["PATH"]}, seconds=seconds, stdout=said, stderr=complained,
               stop=stop, leave=leave), said


def test_a_program_that_ends_is_told_by_its_code(tmp_path: Path) -> None:
    out = Tail(100)
    ended, _ = ran(tmp_path, "sh", "-c", "pwd; read line; echo $?; env | grep -c .; exit 7", out=out)
    assert (ended.returncode, ended.timed_out, ended.stopped, ended.survivors) == (7, False, False, False)
    assert out.text().splitlines()[:2] == [str(tmp_path), "1"], "its folder is the working directory, its input empty"


@pytest.mark.parametrize(("argv", "why"), [
    (("no-such-program",), "cannot be started: No such file or directory"),
    (("/",), "cannot be started: Permission denied"), (("a\0b",), "cannot be started: ValueError")])
def test_a_program_that_cannot_start_says_why(tmp_path: Path, argv: tuple[str, ...], why: str) -> None:
    ended, _ = ran(tmp_path, *argv)
    assert (ended.returncode, ended.why, ended.group) == (None, why, None)


def test_who_ignores_a_request_is_killed_with_its_whole_group(tmp_path: Path) -> None:
    ended, _ = ran(tmp_path, sys.executable, "-c", STUBBORN, seconds=0.5)
    assert (ended.returncode, ended.timed_out, ended.survivors) == (-signal.SIGKILL, True, False)
    assert ended.group is not None
    assert not processes._is_there(ended.group)


def test_who_hears_the_request_ends_in_its_own_way(tmp_path: Path) -> None:
    program = "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    out = Tail(100)
    ended, _ = ran(tmp_path, "sh", "-c", program, seconds=0.5, out=out)
    assert (ended.returncode, ended.timed_out, out.text()) == (3, True, "up\nbye\n")


def test_an_early_end_can_be_asked_for(tmp_path: Path) -> None:
    stop = Stop()
    threading.Timer(0.2, stop.ask).start()
    ended, _ = ran(tmp_path, "sleep", "60", stop=stop)
    assert (ended.stopped, ended.timed_out, ended.returncode) == (True, False, -signal.SIGTERM)


def test_what_was_started_in_the_background_ends_too_unless_it_is_to_stay(tmp_path: Path) -> None:
    program = "sleep 60 >/dev/null 2>&1 & exit 0"
    ended, _ = ran(tmp_path, "sh", "-c", program)
    assert ended.group is not None
    assert not processes._is_there(ended.group)
    ended, _ = ran(tmp_path, "sh", "-c", program, leave=True)
    assert ended.group is not None
    assert processes._is_there(ended.group)
    assert end_group(ended.group)
    assert not processes._is_there(ended.group)


def test_who_holds_the_output_open_holds_nobody_up(tmp_path: Path) -> None:
    out = Tail(100)
    ended, _ = ran(tmp_path, "sh", "-c", "echo said; setsid sh -c 'sleep 10; touch slept' & exit 0", out=out)
    assert (ended.returncode, out.text()) == (0, "said\n")
    assert not (tmp_path / "slept").exists()


def test_a_flood_is_counted_and_dropped(tmp_path: Path) -> None:
    kept: list[bytes] = []
    program = "import sys\nfor _ in range(200): sys.stdout.write(('x' * 99 + chr(10)) * 1000)"
    copier = Copier(kept.append, 5050)
    ended = run([sys.executable, "-c", program], cwd=tmp_path, env={}, seconds=60, stdout=copier,
                stderr=Copier(kept.append, 0))
    assert ended.returncode == 0
    assert b"".join(kept) == (b"x" * 99 + b"\n") * 50
    assert copier.dropped == 200 * 100_000 - 5000


def test_where_nothing_can_be_kept_everything_is_still_read(tmp_path: Path) -> None:
    def full(_: bytes) -> None:
        raise OSError(28, "No space left on device")
    copier = Copier(full, 1 << 30)
    ended = run(["sh", "-c", "head -c 300000 /dev/zero"], cwd=tmp_path, env={"PATH": os.environ["PATH"]}, seconds=60,
                stdout=copier, stderr=Copier(full, 0))
    assert (ended.returncode, copier.dropped) == (0, 300_000)


def test_a_signal_asks_for_the_end() -> None:
    stop, before = Stop(), {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        stop.listen()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_pause_ends_when_the_end_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the third slice, and long before its own end."""
    stop, slices = Stop(), []

    def sleep(seconds: float) -> None:
        slices.append(seconds)
        if len(slices) == 3:
            stop.ask()
    monkeypatch.setattr(stopping, "time", SimpleNamespace(monotonic=lambda: 0.02 * len(slices), sleep=sleep))
    stop.pause(60)
    assert len(slices) == 3
    stop.pause(60)
    assert len(slices) == 3
