"""Threat: making one ending look like another, or not ending at all (rows 12, 13, 16, 23)."""

from __future__ import annotations

import os

import pytest
from harness import attack, attack_with, attacks_with, ending, said

LINGER = """
import os, signal, sys, time
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
"""


@pytest.mark.parametrize("code", [0, 1, 70, 71, 72, 124, 125, 126, 127, 128, 137, 139, 143, 153, 255])
def test_exit_code_is_not_interpreted(code: int) -> None:
    """Row 16, 23: an argv's own exit code is just that, whatever a shell, docker or our init means by it."""
    seen, = attack({}, ("python3", "-c", f"import os; os._exit({code})"))
    assert ending(seen) == ("exited", code, None)
    assert (seen.status.signal_hint, seen.status.engine_exit_code) == (None, code)


@pytest.mark.parametrize("number", [1, 2, 3, 6, 9, 11, 13, 15, 24, 31, 34, 64])
def test_signal_is_told_from_its_exit_code(number: int) -> None:
    """Row 16: a death by signal is signaled, with 128+N as return code; only the engine says 128+N for both."""
    program = f"import os, signal\nif {number} in (2, 13): signal.signal({number}, 0)\nos.kill(os.getpid(), {number})"
    seen, = attack({}, ("python3", "-c", program))
    assert ending(seen) == ("signaled", 128 + number, number)


def test_stop_is_no_end() -> None:
    """Row 12: a main process that stops itself is ended by the deadline."""
    seen, = attack({}, ("python3", "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"), timeout=1.0)
    assert ending(seen) == ("timed_out", 124, None)


def test_shells_claim_stays_a_claim() -> None:
    """Row 16, 23: shell text that returns 139 claims a signal; the same argv does not even claim it."""
    claim, = attack({}, "true; exit 139")
    assert (ending(claim), claim.status.signal_hint) == (("exited", 139, None), 11)


@pytest.mark.parametrize(("command", "files", "errno"), [
    (("no-such-program",), {}, 2), (("./plain",), {"plain": "x"}, 13),
    (("./broken",), {"broken": b"#!/no/such/interpreter\n"}, 2), (("./bad",), {"bad": b"\x7fELF"}, 8),
    (("/workspace",), {}, 13)])
def test_program_that_cannot_start_is_not_started(command: tuple[str, ...], files: dict[str, str | bytes],
                                                  errno: int) -> None:
    """Row 23: not found, not executable, bad format are no exit code of the program's."""
    seen, = attack(files, command)
    assert ending(seen) == ("not_started", None, None)
    assert os.strerror(errno) in seen.status.detail


def test_output_that_looks_like_an_engine_error_decides_nothing() -> None:
    """Row 23: text is never used to find out how a run ended."""
    text = "docker: Error response from daemon: OCI runtime create failed: exec: not found: unknown."
    seen, = attack({}, f"echo '{text}' >&2; exit 127")
    assert ending(seen) == ("exited", 127, None)


def test_every_signal_ignored_changes_nothing() -> None:
    """Row 13: TERM-trapping programs are killed at the deadline like others."""
    seen = attack_with(LINGER + "while True: time.sleep(1)", timeout=1.5)
    assert ending(seen) == ("timed_out", 124, None)


def test_double_fork_and_new_session_end_with_the_main_process() -> None:
    """Row 13: a daemon that ignores every signal and wrote on does not outlive the main process by a line."""
    seen = attack_with(LINGER + """
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b"x")
        while True:
            with open("beat", "ab") as file:
                file.write(b"still alive")
    os._exit(0)
os.read(read, 1)
os._exit(3)
""")
    assert ending(seen) == ("exited", 3, None)


def test_endless_forking_orphans_do_not_keep_the_run_open() -> None:
    """Row 13, 20: who forks faster than it is killed still loses: one KILL goes to all of them at once."""
    for seen in attacks_with("""
        import os
        if os.fork() == 0:
            while True:
                try:
                    if os.fork():
                        os._exit(0)
                    os.setsid()
                except OSError:
                    pass
        os._exit(5)
        """, runs=2):
        assert ending(seen) == ("exited", 5, None)


def test_zombies_are_reaped_by_the_init() -> None:
    """Row 13: many more orphans than the pids limit allows come and go; none stays defunct."""
    assert said(attack_with("""
        import os
        made = 0
        while made < 400:
            try:
                child = os.fork()
            except BlockingIOError:
                continue
            if child == 0:
                if os.fork() == 0:
                    os._exit(0)
                os._exit(0)
            os.waitpid(child, 0)
            made += 1
        print(made)
        """)) == 400


def test_reparented_child_does_not_speak_for_the_main_process() -> None:
    """Row 16: an orphan that dies by signal 11 while the main process lives is not the main process."""
    seen, = attack({}, "sh -c 'sh -c \"kill -11 \\$\\$\" & exit 0'; sleep 0.3; exit 9")
    assert ending(seen) == ("exited", 9, None)


def test_main_process_cannot_be_swapped() -> None:
    """Row 16: exec keeps the process: what it becomes is what is waited for."""
    seen, = attack({}, ("sh", "-c", "exec sh -c 'exec python3 -c \"import os; os.kill(os.getpid(), 11)\"'"))
    assert ending(seen) == ("signaled", 139, 11)
