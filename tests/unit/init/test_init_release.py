"""Nothing untrusted runs before a whole, correct release; then it runs with what the release said."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from init_harness import SOURCES, compile_init, python, run, started

from runner.sandbox.trailer import MAX_ENVIRONMENT, new_nonce, release_message

NONCE = bytes(range(32))
MESSAGE = release_message(NONCE, [("A", "1"), ("B", "2")])


def head(length: int) -> bytes:
    return b"RUNINIT1" + NONCE + length.to_bytes(4, "big")


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 9, 39, 40, 43, 44, 45, len(MESSAGE) - 1])
def test_an_end_before_the_whole_release_runs_nothing(init: Path, cut: int) -> None:
    with started(init, ["echo", "ran"]) as waiting:
        waiting.send(MESSAGE[:cut])
        waiting.slip_leash()
        ended = waiting.finish()
    assert (ended.code, ended.stdout, ended.trailer) == (70, b"", None)
    assert b"nothing was run" in ended.raw_stderr


@pytest.mark.parametrize("garbage", [
    b"GET / HTTP/1.1\r\n\r\n",
    b"RUNINIT2" + MESSAGE[8:],
    head(MAX_ENVIRONMENT + 1),
    head(0xFFFFFFFF),
    head(3) + b"A=1",
    head(2) + b"A\0",
    head(3) + b"=1\0",
    head(1) + b"\0",
], ids=["http", "version", "large", "huge", "no-nul", "no-equals", "no-name", "empty"])
def test_garbage_runs_nothing(init: Path, garbage: bytes) -> None:
    with started(init, ["echo", "ran"]) as waiting:
        waiting.send(garbage)
        ended = waiting.finish()
    assert (ended.code, ended.stdout, ended.trailer) == (70, b"", None)


def test_a_release_may_come_in_pieces_and_be_followed_by_anything(init: Path) -> None:
    with started(init, ["sh", "-c", "echo $A$B; exit 4"]) as waiting:
        waiting.nonce = NONCE
        for at in range(len(MESSAGE)):
            waiting.send(MESSAGE[at:at + 1])
        waiting.send(b"RUNINIT1" * 1000)
        ended = waiting.finish()
    assert (ended.ending, ended.stdout) == (("exited", 4), b"12\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_from_outside_ends_what_was_not_released(init: Path, number: int) -> None:
    with started(init, ["echo", "ran"], lifetime=30) as waiting:
        waiting.send(MESSAGE[:8])
        while not waits_for_its_release(waiting.process.pid):
            pass
        waiting.signal_init(number)
        ended = waiting.finish()
    assert (ended.code, ended.stdout) == (70, b"")


def waits_for_its_release(outer: int) -> bool:
    """Whether the chain of exec calls has come to our program, and it reads signals."""
    children = Path(f"/proc/{outer}/task/{outer}/children").read_text(encoding="ascii").split()
    try:
        return bool(children) and os.readlink(f"/proc/{children[0]}/fd/3") == "anon_inode:[signalfd]"
    except OSError:
        return False


def test_the_lifetime_runs_while_waiting(init: Path) -> None:
    with started(init, ["echo", "ran"], lifetime=1) as waiting:
        ended = waiting.finish()
    assert (ended.code, ended.stdout) == (72, b"")


@pytest.mark.parametrize("argv", [
    [], ["--lifetime", "5", "--cwd", "/", "--"], ["--lifetime", "0", "--cwd", "/", "--", "true"],
    ["--lifetime", "x", "--cwd", "/", "--", "true"], ["--lifetime", "5", "--cwd", "/", "true", "true"],
    ["--cwd", "/", "--lifetime", "5", "--", "true"],
])
def test_wrong_arguments_run_nothing(init: Path, argv: list[str]) -> None:
    done = subprocess.run(["unshare", "--fork", "--pid", "--mount-proc", str(init), *argv], input=MESSAGE,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (70, b"")


def test_it_does_nothing_unless_it_is_pid_1(init: Path) -> None:
    done = subprocess.run([str(init), "--lifetime", "5", "--cwd", "/", "--", "echo", "ran"], input=MESSAGE,
                          capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (70, b"")
    assert b"must be PID 1" in done.stderr


def test_the_release_overlays_the_environment(init: Path) -> None:
    ended = run(init, "env", env={"KEPT": "image", "CHANGED": "image", "CHANGE": "image"},
                released=[("CHANGED", "release"), ("ADDED", "a=b\nc"), ("EMPTY", ""), ("BYTES", "\udcff")])
    lines = set(ended.stdout.split(b"\n"))
    assert {b"KEPT=image", b"CHANGE=image", b"CHANGED=release", b"ADDED=a=b", b"c", b"EMPTY=",
            b"BYTES=\xff"} <= lines
    assert b"CHANGED=image" not in lines


def test_an_environment_of_the_largest_size(init: Path) -> None:
    count = MAX_ENVIRONMENT // 1024
    entries = [(f"V{number:04d}", "x" * 1017) for number in range(count)]
    ended = run(init, "sh", "-c", f'echo "${{#V0000}} ${{#V{count - 1:04d}}}"; env | grep -c ^V', released=entries)
    assert (ended.stdout, ended.ending) == (f"1017 1017\n{count}\n".encode(), ("exited", 0))


def test_the_workload_starts_clean(init: Path) -> None:
    read, write = os.pipe()
    try:
        ended = run(init, *python(
            "import os\n"
            "print(os.readlink('/proc/self/fd/0'), os.getsid(0) == os.getpid(), os.getppid())\n"
            "print(sorted(set(os.listdir('/proc/self/fd')) - {'0', '1', '2'}, key=int)[1:])\n"
            "status = dict(line.split(':\\t', 1) for line in open('/proc/self/status'))\n"
            "print(int(status['SigBlk'], 16), int(status['ShdPnd'], 16))"), pass_fds=(read, write))
    finally:
        os.close(read)
        os.close(write)
    assert ended.stdout == b"/dev/null True 1\n[]\n0 0\n"


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    builds = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        builds.append(compile_init(folder).read_bytes())
    assert builds[0] == builds[1]
    assert str(SOURCES).encode() not in builds[0]


def test_nonces_differ() -> None:
    assert new_nonce() != new_nonce()
