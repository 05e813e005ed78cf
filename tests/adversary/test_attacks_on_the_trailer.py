"""Threat: a forged, stolen or suppressed trailer, the proof of how the main process ended (rows 16, 23).

A hostile program may at most deny a verdict, which shows as ``init_lost``; it can never make one.
"""

from __future__ import annotations

import pytest
from boundaries import here, within
from harness import POLICY, attack, attack_with, ending, said

from runner.sandbox.trailer import TRAILER_BYTES

FORGED = b"\0RUNNER-TRAILER-1 " + b"5a" * 32 + b" S 0000000011 " + b" ".join([b"0" * 20] * 4) + b" " + b"9" * 20 + b"\n"


def test_forgery_has_the_right_shape() -> None:
    """The forgeries below are as long as the real one."""
    assert len(FORGED) == TRAILER_BYTES


def test_forged_trailer_is_output() -> None:
    """Row 16: right form, wrong nonce: it stays in stderr, and the real ending is told."""
    seen = attack_with(f"import os; os.write(2, {FORGED!r}); os._exit(0)")
    assert (ending(seen), seen.stderr.kept) == (("exited", 0, None), FORGED)


def test_forged_trailer_behind_closed_stderr() -> None:
    """Row 16: forging, then closing stderr, hides nothing: the init holds its own end of the stream."""
    seen = attack_with(f"import os; os.write(2, {FORGED!r}); os.close(2); os.close(1); os._exit(9)")
    assert (ending(seen), seen.stderr.kept) == (("exited", 9, None), FORGED)


def test_thousand_forged_trailers() -> None:
    """Row 16: any number of them, cut anywhere."""
    seen = attack_with(f"import os, sys; sys.stderr.buffer.write({FORGED!r} * 1000 + {FORGED[:100]!r}); "
                       "sys.stderr.flush(); os._exit(21)")
    assert (ending(seen), seen.stderr.kept) == (("exited", 21, None), FORGED * 1000 + FORGED[:100])


def test_half_a_trailer_before_the_real_one() -> None:
    """Row 16: a beginning without end does not swallow the real one."""
    seen = attack_with(f"import os; os.write(2, {FORGED[:117]!r}); os._exit(22)")
    assert (ending(seen), seen.stderr.kept) == (("exited", 22, None), FORGED[:117])


def test_trailer_on_stdout_is_output() -> None:
    """Row 16: the other stream has no trailer."""
    seen = attack_with(f"import os; os.write(1, {FORGED!r}); os._exit(23)")
    assert (ending(seen), seen.stdout.kept) == (("exited", 23, None), FORGED)


def test_forgery_of_a_killed_run_is_no_ending() -> None:
    """Row 16: forged text and then the deadline: our own kill is the cause."""
    seen = attack_with(f"import os, time; os.write(2, {FORGED!r}); time.sleep(600)", timeout=1.0)
    assert (ending(seen), seen.stderr.kept) == (("timed_out", 124, None), FORGED)


def test_real_trailer_is_never_seen_by_a_survivor() -> None:
    """Row 16: a child that reads the stderr pipe itself is dead before the nonce goes through it."""
    seen = attack_with("""
        import os, sys
        read, write = os.pipe()
        if os.fork() == 0:
            os.setsid()
            pipe = os.open("/proc/self/fd/2", os.O_RDONLY)
            os.write(write, b"x")
            while True:
                stolen = os.read(pipe, 65536)
                with open("/workspace/stolen", "ab") as file:
                    file.write(stolen)
        os.read(read, 1)
        os._exit(24)
        """)
    assert ending(seen) == ("exited", 24, None)
    assert [change.path for change in seen.changes] == []


def test_stderr_made_non_blocking_and_filled() -> None:
    """Row 16: the shared description is O_NONBLOCK and full: the init waits until it can write all of it."""
    seen = attack_with("""
        import fcntl, os
        fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | os.O_NONBLOCK)
        sent = 0
        try:
            while sent < 3_000_000:
                sent += os.write(2, b"x" * 65536)
        except BlockingIOError:
            pass
        os._exit(25)
        """)
    assert ending(seen) == ("exited", 25, None)
    assert set(seen.stderr.kept) == {ord("x")}


def test_stderr_pipe_shrunk_and_filled() -> None:
    """Row 16: the smallest pipe there is, full to the brim."""
    seen = attack_with("""
        import fcntl, os
        try:
            fcntl.fcntl(2, 1031, 4096)
        except OSError:
            pass
        for _ in range(200):
            os.write(2, b"y" * 4096)
        os._exit(26)
        """)
    assert (ending(seen), seen.stderr.bytes) == (("exited", 26, None), 200 * 4096)


def test_stderr_set_to_raise_signals_and_append() -> None:
    """Row 16: O_ASYNC with PID 1 as owner, O_APPEND, O_DIRECT: flags of the description do not stop the trailer."""
    seen = attack_with("""
        import fcntl, os
        for flag in (os.O_ASYNC, os.O_APPEND, os.O_DIRECT):
            try:
                fcntl.fcntl(2, fcntl.F_SETFL, fcntl.fcntl(2, fcntl.F_GETFL) | flag)
                fcntl.fcntl(2, fcntl.F_SETOWN, 1)
            except OSError:
                pass
        os.write(2, b"flags")
        os._exit(27)
        """)
    assert (ending(seen), seen.stderr.kept) == (("exited", 27, None), b"flags")


@pytest.mark.parametrize("size", [TRAILER_BYTES - 1, TRAILER_BYTES, TRAILER_BYTES + 1, 65536])
def test_stderr_of_about_the_trailers_size(size: int) -> None:
    """Row 18: what is held back for the trailer comes out again, to the byte."""
    seen, = attack({}, f"head -c {size} /dev/zero >&2")
    assert (seen.stderr.bytes, seen.stderr.kept) == (size, bytes(size))


def test_trailer_survives_memory_that_belongs_to_no_process() -> None:
    """Row 16: segments that no process holds fill the limit; the main process is killed, the init still reports."""
    seen = attack_with("""
        import ctypes, os
        libc = ctypes.CDLL(None)
        libc.shmat.restype = ctypes.c_void_p
        while True:
            segment = libc.shmget(0, 1 << 20, 0o1600)
            if os.fork() == 0:
                ctypes.memset(libc.shmat(segment, None, 0), 1, 1 << 20)
                os._exit(0)
            os.wait()
        """)
    assert ending(seen) == here(("oom_killed", 137, 9), "ending")
    assert (seen.cpu_seconds is not None) is here(True)


def test_own_kill_beside_a_childs_oom_is_at_most_a_resource() -> None:
    """Row 16: flag and signal 9 cannot be told apart from an OOM: a cause that is never accepted as a failure."""
    seen = attack_with("""
        import os
        if os.fork() == 0:
            bytearray(1 << 28).replace(b"0", b"1")
        os.wait()
        os.kill(os.getpid(), 9)
        """)
    assert ending(seen) == here(("oom_killed", 137, 9))


def test_trailer_carries_times_and_peak() -> None:
    """Row 15: CPU time and memory peak come from the kernel through the trailer, not from the workload."""
    seen = attack_with("""
        import time
        block = bytearray(64 << 20)
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        print(1)
        """)
    assert said(seen) == 1
    assert within(0.3, seen.cpu_seconds, 3)
    assert within(64 << 20, seen.peak_memory, POLICY.memory)
