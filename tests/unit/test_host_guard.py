"""The guard of a host run, without payload or session: it must tell the truth and leave nothing alive."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from runner.errors import SetupError
from runner.sandbox.backends.host import guard as guard_module
from runner.sandbox.backends.host.guard import Guard, Launch
from runner.sandbox.backends.host.pump import Ending, Pump
from runner.sandbox.cancel import Cancel
from runner.sandbox.deadline import Deadline
from runner.sandbox.exit import StopReason, Trailer
from runner.sandbox.output import Output, OutputPair, nothing_held

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
LIMITS = {"core": 0, "nofile": 256}


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", code)


def run(argv: tuple[str, ...], *, env: Mapping[str, str] = ENV, limits: Mapping[str, int] = LIMITS,
        seconds: float = 60, cap: int = 1 << 20) -> tuple[Ending, Output]:
    output, cancel = OutputPair(cap, cap, 1 << 20), Cancel()
    try:
        with Guard() as guard:
            guard.release(Launch(argv, b"/", env, limits))
            ending = Pump(guard, output, Deadline.after(seconds), cancel).run()
    finally:
        cancel.close()
    return ending, output.finish(nothing_held)[0]


def kind_and_code(ending: Ending) -> tuple[str, int] | None:
    return None if ending.trailer is None else (ending.trailer.kind, ending.trailer.code)


def processes_with(token: str) -> list[int]:
    """Processes that carry ``token`` in their environment or command line; a zombie carries nothing."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = Path(f"/proc/{name}/environ").read_bytes() + Path(f"/proc/{name}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        if token.encode() in text and int(name) != os.getpid():
            found.append(int(name))
    return found


@pytest.fixture
def token(request: pytest.FixtureRequest) -> str:
    return f"guard-test-{os.getpid()}-{time.monotonic_ns()}"


@pytest.mark.parametrize("code", [0, 1, 7, 124, 125, 126, 127, 128, 130, 137, 139, 143, 255])
def test_an_exit_code_is_an_exit_code(code: int) -> None:
    ending, _ = run(("sh", "-c", f"exit {code}"))
    assert kind_and_code(ending) == ("exited", code)
    assert ending.stopped is None


@pytest.mark.parametrize("number", [
    signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_a_signal(number: signal.Signals) -> None:
    ending, _ = run(("sh", "-c", f"kill -{int(number)} $$"))
    assert kind_and_code(ending) == ("signaled", int(number))


@pytest.mark.parametrize(("make", "errno_name"), [
    (None, "ENOENT"), ("plain", "EACCES"), ("directory", "EACCES"), ("noise", "ENOEXEC")])
def test_a_program_that_cannot_be_executed_was_not_started(make: str | None, errno_name: str,
                                                           tmp_path: Path) -> None:
    program = tmp_path / "program"
    if make == "directory":
        program.mkdir()
    elif make is not None:
        program.write_bytes(b"\x00\x01 no program")
        program.chmod(0o755 if make == "noise" else 0o644)
    ending, _ = run((str(program),))
    assert kind_and_code(ending) == ("not_started", getattr(errno, errno_name))


def test_a_nul_byte_in_an_argument_is_not_started() -> None:
    assert kind_and_code(run(("echo", "a\0b"))[0]) == ("not_started", 22)


def test_a_program_is_looked_up_on_the_path_it_is_given(tmp_path: Path) -> None:
    tool = tmp_path / "own-tool"
    tool.write_text("#!/bin/sh\nexit 42\n")
    tool.chmod(0o755)
    assert kind_and_code(run(("own-tool",), env={"PATH": str(tmp_path)})[0]) == ("exited", 42)


def test_output_is_separate_and_complete_to_its_last_byte() -> None:
    _, output = run(("sh", "-c", "printf out; printf err >&2"))
    assert (output.stdout.kept, output.stderr.kept) == (b"out", b"err")


def test_any_byte_survives_in_argument_and_environment() -> None:
    odd = bytes(range(1, 256))
    text = os.fsdecode(odd)
    script = 'printf %s "$1"; printf %s "$ODD" >&2'
    _, output = run(("sh", "-c", script, "sh", text), env={**ENV, "ODD": text})
    assert (output.stdout.kept, output.stderr.kept) == (odd, odd)


def test_the_environment_is_exactly_what_was_given() -> None:
    _, output = run(("env",), env={**ENV, "ONLY": "this"})
    assert set(output.stdout.kept.decode().split()) == {f"PATH={ENV['PATH']}", "ONLY=this"}


def test_the_command_has_empty_stdin_and_no_descriptor_of_ours() -> None:
    code = ("import os,sys\n"
            "print(sys.stdin.read() == '', sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4],"
            "os.getpgrp() == os.getpid(), os.getsid(0) == os.getpid())")
    _, output = run(python(code))
    assert output.stdout.kept == b"True [0, 1, 2, 3] True True\n"  # 3 is the listing itself


def test_signals_are_back_to_default_and_no_privilege_can_be_gained() -> None:
    _, output = run(("sh", "-c", "grep -E '^(SigBlk|SigIgn|NoNewPrivs)' /proc/self/status | cut -f2"))
    blocked, ignored, no_new_privileges = output.stdout.kept.split()
    reserved = 0b11 << 31  # signals 32 and 33 are the C library's own: it lets nobody set them
    assert (int(blocked, 16) & ~reserved, int(ignored, 16) & ~reserved, no_new_privileges) == (0, 0, b"1")


def test_limits_are_set_hard_and_a_hard_limit_of_ours_is_not_exceeded() -> None:
    code = ("import resource as r\n"
            "print(r.getrlimit(r.RLIMIT_CORE), r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_FSIZE))")
    _, output = run(python(code), limits={"core": 0, "nofile": 1 << 40, "fsize": 12345})
    core, nofile, fsize = output.stdout.kept.decode().strip().split(") (")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    assert (core, fsize) == ("(0, 0", "12345, 12345)")
    assert nofile == f"{hard}, {hard}"


def test_a_file_beyond_the_limit_ends_in_sigxfsz(tmp_path: Path) -> None:
    target = tmp_path / "big"
    ending, _ = run(("dd", "if=/dev/zero", f"of={target}", "bs=1000", "count=10"), limits={"fsize": 3000})
    assert kind_and_code(ending) == ("signaled", signal.SIGXFSZ)
    assert target.stat().st_size == 3000


def test_the_deadline_ends_a_command_that_ignores_everything() -> None:
    ending, _ = run(("sh", "-c", "trap '' TERM INT HUP; echo up; while :; do :; done"), seconds=0.5)
    assert ending.stopped is StopReason.DEADLINE
    assert ending.trailer is None
    assert ending.cpu_seconds is not None


def test_a_stopped_command_and_a_stopped_guard_are_ended_too(token: str) -> None:
    script = "kill -STOP $(cut -d' ' -f4 /proc/$PPID/stat); kill -STOP $PPID; kill -STOP $$"
    ending, _ = run(("sh", "-c", script), env={**ENV, "TOKEN": token}, seconds=0.5)
    assert ending.stopped is StopReason.DEADLINE
    assert processes_with(token) == []


def test_output_beyond_the_cap_ends_the_run() -> None:
    ending, output = run(("sh", "-c", "yes"), cap=100_000)
    assert ending.stopped is StopReason.OUTPUT
    assert output.over_limit


def test_a_command_that_ends_just_beyond_the_cap_is_over_the_limit() -> None:
    ending, _ = run(("sh", "-c", "printf 12345678901"), cap=10)
    assert ending.stopped is StopReason.OUTPUT


ESCAPE = ("import os, time, signal\n"
          "for _ in range(3):\n"
          "    if os.fork() == 0:\n"
          "        os.setsid()\n"
          "        if os.fork() == 0:\n"
          "            signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
          "            os.write(1, b'escaped ')\n"
          "            time.sleep(600)\n"
          "        os._exit(0)\n"
          "    else: os.wait()\n"
          "os._exit(3)\n")


def test_double_fork_and_setsid_neither_escape_nor_keep_the_run_from_ending(token: str) -> None:
    ending, _ = run(python(ESCAPE), env={**ENV, "TOKEN": token})
    assert kind_and_code(ending) == ("exited", 3)
    assert processes_with(token) == []


def test_a_process_that_forks_on_and_on_is_caught(token: str) -> None:
    comet = ("import os, time\n"
             "if os.fork(): os._exit(0)\n"
             "while True:\n"
             "    if os.fork(): os._exit(0)\n"
             "    os.setsid()\n")
    ending, _ = run(python(comet), env={**ENV, "TOKEN": token}, seconds=30)
    assert kind_and_code(ending) == ("exited", 0)
    assert processes_with(token) == []


def test_killing_the_parent_loses_the_verdict_but_nothing_escapes(token: str) -> None:
    ending, _ = run(("sh", "-c", "setsid sleep 600 & kill -9 $PPID; sleep 600"), env={**ENV, "TOKEN": token})
    assert ending.trailer is None
    assert ending.stopped is None
    assert processes_with(token) == []


def test_cancel_from_another_thread_ends_the_run(token: str) -> None:
    output, cancel = OutputPair(1 << 20, 1 << 20, 1 << 20), Cancel()
    with Guard() as guard:
        guard.release(Launch(("sh", "-c", "trap '' TERM; sleep 600"), b"/", {**ENV, "TOKEN": token}, {}))
        thread = threading.Thread(target=cancel.throw)
        thread.start()
        ending = Pump(guard, output, Deadline.after(60), cancel).run()
        thread.join()
    cancel.close()
    assert ending.stopped is StopReason.CANCEL
    assert processes_with(token) == []


def test_an_exception_in_the_controller_ends_the_run(token: str) -> None:
    def interrupted() -> None:
        with Guard() as guard:
            guard.release(Launch(("sleep", "600"), b"/", {**ENV, "TOKEN": token}, {}))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert processes_with(token) == []


def test_a_guard_that_is_never_released_ends_quietly() -> None:
    with Guard() as guard:
        pass
    assert not guard.reports.has("over")


CONTROLLER = """
import sys, threading
from runner.sandbox.backends.host.guard import Guard, Launch
guard = Guard()
threading.Thread(target=lambda: None).start()
guard.release(Launch(("sh", "-c", "setsid sleep 600 & echo up; sleep 600"), b"/", {env!r}, {{}}))
import os, select
select.select([guard.stdout], [], [])
print("up", flush=True)
sys.stdin.read()
"""


def test_killing_the_controller_ends_everything(token: str) -> None:
    code = CONTROLLER.format(env={**ENV, "TOKEN": token})
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          cwd=Path(__file__).parents[2]) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == b"up\n"
        assert processes_with(token) != []
        controller.kill()
    deadline = Deadline.after(30)
    while processes_with(token) and not deadline.expired:
        time.sleep(0.01)
    assert processes_with(token) == []


def test_the_thread_that_started_the_guard_may_end_first() -> None:
    guards: list[Guard] = []
    thread = threading.Thread(target=lambda: guards.append(Guard()))
    thread.start()
    thread.join()
    cancel, output = Cancel(), OutputPair(100, 100, 100)
    with guards[0] as guard:
        guard.release(Launch(("sh", "-c", "exit 5"), b"/", ENV, {}))
        ending = Pump(guard, output, Deadline.after(60), cancel).run()
    cancel.close()
    assert kind_and_code(ending) == ("exited", 5)


def test_a_guard_that_does_not_come_up_is_a_setup_error(tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit(1)\n")
    monkeypatch.setattr(guard_module, "_SUPERVISOR", broken)
    with pytest.raises(SetupError, match="did not come up"), Guard() as guard:
        guard.release(Launch(("true",), b"/", ENV, {}))


def test_figures_are_plausible() -> None:
    ending, _ = run(python("x = bytearray(64 << 20)\nfor _ in range(10**6): pass"))
    assert ending.peak_memory is not None
    assert 64 << 20 < ending.peak_memory < 1 << 30
    assert ending.cpu_seconds is not None
    assert 0 < ending.cpu_seconds < 60
    assert 0 < ending.wall_seconds < 60
    assert ending.trailer == Trailer("exited", 0, user_us=ending.trailer.user_us if ending.trailer else 0,
                                     system_us=ending.trailer.system_us if ending.trailer else 0,
                                     max_rss=ending.peak_memory)
