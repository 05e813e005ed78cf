"""What a hostile workload tries against its init: it may deny a trailer, it must never forge one."""

from __future__ import annotations

from pathlib import Path

import pytest
from init_harness import python, run

from runner.sandbox.trailer import TRAILER_BYTES

FORGED = (b"\0RUNNER-TRAILER-1 " + b"0" * 64 + b" E " + b"0" * 10 + b" " + b" ".join([b"0" * 20] * 5) + b"\n")


def test_a_forged_trailer_is_ordinary_output(init: Path) -> None:
    assert len(FORGED) == TRAILER_BYTES
    ended = run(init, *python(f"import os; os.write(2, {FORGED!r}); os._exit(1)"))
    assert (ended.stderr, ended.ending) == (FORGED, ("exited", 1))


@pytest.mark.parametrize("numbers", ["KILL", "STOP", "TSTP", "TERM", "INT", "HUP", "QUIT", "CHLD", "SEGV", "ABRT"])
def test_signals_from_inside_change_nothing(init: Path, numbers: str) -> None:
    assert run(init, "sh", "-c", f"for i in 1 2 3 4 5; do kill -{numbers} 1; done; exit 7").ending == ("exited", 7)


def test_every_signal_in_every_way_changes_nothing(init: Path) -> None:
    """kill, tgkill, and rt_sigqueueinfo with a record that claims to come from pid 0."""
    ended = run(init, *python(
        "import ctypes, os\n"
        "libc, machine = ctypes.CDLL(None), os.uname().machine\n"
        "tgkill, queue = {'x86_64': (234, 129), 'aarch64': (131, 138)}[machine]\n"
        "record = ctypes.create_string_buffer(128)\n"
        "for number in range(1, 65):\n"
        "    ctypes.memmove(record, (ctypes.c_int * 3)(number, 0, -1), 12)\n"
        "    for call in ((tgkill, 1, 1, number), (queue, 1, number, record)): libc.syscall(*call)\n"
        "    os.kill(1, number)\n"
        "os._exit(8)"))
    assert ended.ending == ("exited", 8)


def test_signals_asked_for_from_the_kernel_change_nothing(init: Path) -> None:
    """The owner of a descriptor gets a signal of one's choice when it becomes ready: here that is PID 1."""
    ended = run(init, *python(
        "import fcntl, os, socket\n"
        "for number in (9, 15, 19, 0):\n"
        "    near, far = socket.socketpair()\n"
        "    fcntl.fcntl(near, fcntl.F_SETOWN, 1)\n"
        "    fcntl.fcntl(near, 10, number)\n"
        "    fcntl.fcntl(near, fcntl.F_SETFL, os.O_ASYNC)\n"
        "    far.send(b'x')\n"
        "os._exit(9)"))
    assert ended.ending == ("exited", 9)


@pytest.mark.parametrize("path", ["mem", "environ", "maps", "fd/0", "fd/2", "auxv", "stack", "io", "oom_score_adj"])
def test_nothing_of_the_init_can_be_opened(init: Path, path: str) -> None:
    ended = run(init, *python(f"import os\ntry: os.open('/proc/1/{path}', os.O_RDWR)\n"
                              "except PermissionError: os._exit(0)\n"
                              "os._exit(1)"))
    assert ended.ending == ("exited", 0)


def test_the_release_is_not_to_be_seen_from_outside_of_the_workload(init: Path) -> None:
    ended = run(init, "cat", "/proc/1/cmdline", "/proc/1/status", "/proc/1/comm", released=[("TOKEN", "hunter2")])
    assert ended.nonce.hex().encode() not in ended.stdout
    assert b"hunter2" not in ended.stdout


def test_the_init_cannot_be_traced_or_read_or_robbed_of_descriptors(init: Path) -> None:
    ended = run(init, *python(
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "ptrace, read, write, getfd = {'x86_64': (101, 310, 311, 438), 'aarch64': (117, 270, 271, 438)}"
        "[os.uname().machine]\n"
        "text = ctypes.create_string_buffer(16)\n"
        "pair = (ctypes.c_size_t * 2)(ctypes.addressof(text), 16)\n"
        "vector = ctypes.addressof(pair)\n"
        "init = os.pidfd_open(1)\n"
        "calls = [(ptrace, 16, 1, 0, 0), (ptrace, 0x4206, 1, 0, 0), (read, 1, vector, 1, vector, 1, 0),\n"
        "         (write, 1, vector, 1, vector, 1, 0), (getfd, init, 0, 0), (getfd, init, 2, 0)]\n"
        "print([(libc.syscall(*map(ctypes.c_long, call)), ctypes.get_errno()) for call in calls])"))
    assert ended.stdout == f"{[(-1, 1)] * 6}\n".encode()


def test_a_reader_of_our_own_pipe_is_gone_before_the_nonce_is_written(init: Path) -> None:
    """The workload may open the read end of stderr; whatever it takes is its own output, never the trailer."""
    ended = run(init, *python(
        "import os\n"
        "thief = os.open('/proc/self/fd/2', os.O_RDONLY)\n"
        "ready, told = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.write(told, b'x')\n"
        "    while True: os.write(1, os.read(thief, 65536))\n"
        "os.read(ready, 1)\n"
        "os._exit(6)"))
    assert ended.ending == ("exited", 6)
    assert ended.nonce.hex().encode() not in ended.stdout


@pytest.mark.parametrize("stray", [
    "setsid sleep 1000 &",
    "(trap '' HUP INT QUIT TERM; sleep 1000) &",
    "(setsid sh -c 'setsid sleep 1000 & sleep 1000' &)",
    "(while :; do echo noise >&2; done) &",
    "sh -c 'kill -STOP $$' &",
], ids=["setsid", "trap", "double-fork", "noise", "stopped"])
def test_a_stray_that_holds_stderr_does_not_come_after_the_trailer(init: Path, stray: str) -> None:
    ended = run(init, "sh", "-c", f"{stray}\nexit 11")
    assert ended.ending == ("exited", 11)


def test_a_fork_bomb_ends_with_the_main_process(init: Path) -> None:
    bomb = ("import os\n"
            "ready, told = os.pipe()\n"
            "if os.fork() == 0:\n"
            "    os.write(told, b'x')\n"
            "    while True:\n"
            "        try: os.fork()\n"
            "        except OSError: pass\n"
            "os.read(ready, 1)\n"
            "os._exit(12)")
    assert run(init, *python(bomb), uid=27183, nproc=40).ending == ("exited", 12)


def test_a_non_blocking_and_full_stderr_still_gets_the_trailer(init: Path) -> None:
    fill = ("import fcntl, os\n"
            "fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK)\n"
            "try:\n"
            "    while True: os.write(2, b'x' * 512)\n"
            "except BlockingIOError: os._exit(13)")
    ended = run(init, *python(fill))
    assert ended.ending == ("exited", 13)
    assert set(ended.stderr) == {ord("x")}


def test_a_small_pipe_still_gets_the_whole_trailer(init: Path) -> None:
    ended = run(init, *python("import fcntl, os; fcntl.fcntl(2, 1031, 4096); os.write(2, b'y' * 4096); os._exit(14)"))
    assert (ended.ending, ended.stderr) == (("exited", 14), b"y" * 4096)


def test_closed_and_swapped_descriptors_are_the_workloads_own(init: Path) -> None:
    ended = run(init, "sh", "-c", "exec 3>&1 1>&2 2>&3 3>&-; echo to-stdout >&2; exec 1>&- 2>&-; exit 15")
    assert (ended.ending, ended.stdout) == (("exited", 15), b"to-stdout\n")
