"""Threat: PID 1 itself, which shares the workload's uid: its life, its memory, its nonce (rows 13, 16)."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from boundaries import here
from harness import attack_with, attacks_with, ending, said

OUT_OF_REACH = (
    "read mem", "read environ", "read maps", "read auxv", "read io", "read stack", "read syscall", "read pagemap",
    "read personality", "read task/1/mem", "read task/1/environ", "list fd", "list fdinfo", "list map_files",
    "link exe", "link cwd", "link root", "link ns/pid", "link fd/0", "link fd/1", "link fd/2",
    "write mem", "write oom_score_adj", "write oom_adj", "write comm", "write coredump_filter", "write clear_refs",
    "write timerslack_ns", "write autogroup", "write uid_map", "write setgroups", "write fd/0", "write fd/1",
    "write fd/2", "ptrace attach", "ptrace seize", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
    "prlimit set", "prlimit get", "setpgid", "init binary", "init's folder",
)

PROBES = f"""
import ctypes, errno, json, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
descriptors = sorted(map(int, os.listdir("/proc/self/fd")))[:-1]
def call(number, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(number, *map(ctypes.c_long, arguments)) == -1:
        raise OSError(ctypes.get_errno(), "")
def read(name):
    with open("/proc/1/" + name, "rb", 0) as file:
        file.read(64)
def write(name):
    with open("/proc/1/" + name, "wb", 0) as file:
        file.write(b"1000")
special = {{
    "ptrace attach": lambda: call(101, 16, 1, 0, 0), "ptrace seize": lambda: call(101, 0x4206, 1, 0, 0),
    "process_vm_readv": lambda: call(310, 1, 0, 0, 0, 0, 0), "process_vm_writev": lambda: call(311, 1, 0, 0, 0, 0, 0),
    "pidfd_getfd": lambda: call(438, os.pidfd_open(1), 0, 0), "kcmp": lambda: call(312, 1, os.getpid(), 0, 0, 0),
    "prlimit set": lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)),
    "prlimit get": lambda: resource.prlimit(1, resource.RLIMIT_CPU), "setpgid": lambda: os.setpgid(1, 1),
    "init binary": lambda: open("/.runner/init", "r+b"), "init's folder": lambda: os.unlink("/.runner/init"),
}}
def attempt(what):
    verb, _, name = what.partition(" ")
    try:
        if what in special:
            special[what]()
        else:
            {{"read": read, "write": write, "list": lambda name: os.listdir("/proc/1/" + name),
              "link": lambda name: os.readlink("/proc/1/" + name)}}[verb](name)
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
outcome = {{what: attempt(what) for what in {OUT_OF_REACH!r}}}
print("\\n" + json.dumps({{
    "outcome": outcome,
    "command line": open("/proc/1/cmdline").read().split("\\0"),
    "own descriptors": descriptors, "stdin": os.readlink("/proc/self/fd/0"),
    "second init": os.waitstatus_to_exitcode(os.system("/.runner/init --lifetime 9 --cwd / -- true 2>/dev/null")),
}}))
"""


@pytest.fixture(scope="module")
def probes() -> dict[str, Any]:
    seen = attack_with(PROBES, env={"SECRET": "s3cr3t"})
    assert ending(seen) == ("exited", 0, None), seen.stderr.kept
    answer: dict[str, Any] = json.loads(seen.stdout.kept.splitlines()[-1])
    return answer


@pytest.mark.parametrize("what", OUT_OF_REACH)
def test_init_is_out_of_reach(probes: dict[str, Any], what: str) -> None:
    """Row 16: not dumpable: memory, environment, descriptors, tracing and limits of PID 1 are closed to its own uid."""
    assert probes["outcome"][what] in here(("EACCES", "EPERM", "EROFS", "ENOENT", "ESRCH", "ETXTBSY"))


@pytest.mark.parametrize("numbers", [[signal.SIGKILL], [signal.SIGSTOP], sorted({*range(1, 65)} - {9, 19})],
                         ids=["KILL", "STOP", "others"])
def test_init_survives_every_signal_from_inside(numbers: list[int]) -> None:
    """Row 13: by kill and by pidfd, three times each: dropped by the kernel or ignored by the init."""
    seen = attack_with(f"""
        import os, signal, time
        def send(body):
            try:
                body()
            except OSError:
                pass  # a kernel without such calls
        for number in {list(map(int, numbers))!r} * 3:
            os.kill(1, number)
            send(lambda: signal.pidfd_send_signal(os.pidfd_open(1), number))
        time.sleep(0.2)
        assert os.getppid() == 1 and open("/proc/1/stat").read().split()[2] in "RS"
        """, timeout=5.0)
    assert ending(seen) == here(("exited", 0, None))


def test_command_line_of_the_init_tells_nothing(probes: dict[str, Any]) -> None:
    """Row 16: neither nonce nor environment values are where everybody can read them."""
    assert probes["command line"][0::2][:3] == ["/.runner/init", probes["command line"][2], "/workspace"]
    assert probes["command line"][1::2][:2] == ["--lifetime", "--cwd"]
    assert probes["command line"][5:] == ["--", "python3", "attack.py", ""]


def test_workload_inherits_nothing_but_its_three_streams(probes: dict[str, Any]) -> None:
    """Row 16: no signalfd, no leash: stdin is /dev/null and there is no descriptor more."""
    assert (probes["own descriptors"], probes["stdin"]) == ([0, 1, 2], "/dev/null")


def test_second_init_refuses_to_be_one(probes: dict[str, Any]) -> None:
    """Row 16: run by the workload, the init says it is not PID 1 and runs nothing."""
    assert probes["second init"] == 70


def test_init_cannot_be_starved() -> None:
    """Row 13: idle class and niceness are for the caller only: PID 1 behind forty spinners still ends them at once.

    Otherwise even a KILL takes minutes, because who is killed needs the processor to die.
    """
    seen = attack_with("""
        import ctypes, errno, json, os
        libc = ctypes.CDLL(None, use_errno=True)
        idle = ctypes.byref(ctypes.c_int(0))
        def call(number, *arguments):
            ctypes.set_errno(0)
            return errno.errorcode[ctypes.get_errno()] if libc.syscall(number, *arguments) == -1 else "done"
        print(json.dumps([
            call(144, 1, 5, idle), call(144, ctypes.c_long((1 << 32) + 1), 5, idle), call(142, 1, idle),
            call(314, 1, idle, 0), call(141, 0, 1, 19), call(141, 1, 1, 19), call(141, 2, 0, 19),
            call(141, 2, os.getuid(), 19), call(251, 1, 1, 3 << 13), call(251, 3, os.getuid(), 3 << 13)]), flush=True)
        os.sched_setaffinity(1, {min(os.sched_getaffinity(0))})
        for _ in range(40):
            if os.fork() == 0:
                while True:
                    pass
        os._exit(11)
        """)
    assert (ending(seen), json.loads(seen.stdout.kept)) == (here(("exited", 11, None)), ["EPERM"] * 10)


def test_own_priority_can_be_lowered() -> None:
    """Row 13: what programs do to themselves, nice(1) and the idle class, works."""
    assert said(attack_with("""
        import json, os
        os.nice(5)
        try:
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
            idle = "done"
        except OSError as error:
            idle = error.strerror
        print(json.dumps([os.nice(0), idle]))
        """)) == here([5, "done"])


def test_flood_of_queued_signals_kills_nobody() -> None:
    """Row 13: a hundred thousand real-time signals exhaust the queue; the main process is not hit by what is lost."""
    for seen in attacks_with(f"""
        import ctypes, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        signal.pthread_sigmask(signal.SIG_BLOCK, range(34, 65))
        for number in range({here(100_000)}):
            libc.sigqueue(os.getpid(), 34 + number % 30, None)
        for number in range({here(100_000)}):
            libc.sigqueue(1, 34 + number % 30, None)
        os._exit(12)
        """, runs=2):
        assert ending(seen) == ("exited", 12, None)


def test_forged_origin_of_a_signal_is_refused() -> None:
    """Row 13: a signal that claims to come from outside (SI_USER, pid 0) cannot be sent to PID 1 by rt_sigqueueinfo."""
    assert said(attack_with("""
        import ctypes, errno, json, os, signal, struct
        libc = ctypes.CDLL(None, use_errno=True)
        info = ctypes.create_string_buffer(struct.pack("iiiiii", signal.SIGTERM, 0, 0, 0, 0, 0), 128)
        result = libc.syscall(129, 1, signal.SIGTERM, info)
        print(json.dumps([result, errno.errorcode[ctypes.get_errno()]]))
        """)) == [-1, "EPERM"]


def test_pids_used_up_leave_the_init_able_to_end() -> None:
    """Row 20: with every process taken the init needs no new one to kill, reap and report."""
    seen = attack_with("""
        import os, signal
        try:
            while True:
                if os.fork() == 0:
                    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
                    while True:
                        signal.pause()
        except BlockingIOError:
            os._exit(13)
        """)
    assert ending(seen) == here(("exited", 13, None))


def test_memory_used_up_leaves_the_init_able_to_end() -> None:
    """Row 16: children that take all memory again and again are killed; the main process still says 14."""
    seen = attack_with("""
        import os
        for _ in range(3):
            if os.fork() == 0:
                bytearray(1 << 28).replace(b"0", b"1")
                os._exit(0)
            os.wait()
        os._exit(14)
        """)
    assert (ending(seen), seen.status.child_oom) == here((("exited", 14, None), True))
