"""The guard of one host run: starts the command, reports how it ended, and ends all that descends from it.

A program of its own (standard library only, started with ``python -I -S``), because the controller has
threads and must not fork. Two processes::

    guard      subreaper: whatever escapes by double fork or setsid becomes its child, and is ended by it
    └─ keeper  parent of the command: waits for it and reports; ``kill -9 $PPID`` hits this one
       └─ command, in a session of its own

*Leash*: standard input. The controller writes one line (JSON, see :class:`Release`), and then keeps it open;
its end ends everything, so nothing outlives a controller that was killed. *Reports*: JSON lines on the
descriptor given as the only argument, which the command does not inherit::

    {"event": "ready"}                                              waiting for the release
    {"event": "ended", "kind": KIND, "code": N, "wall_us": N}       KIND as in runner.sandbox.exit.Trailer
    {"event": "over", "user_us": N, "system_us": N, "max_rss": N}   nothing that descends from us is left
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_LEASH = 0
_MAX_RELEASE = 64 << 20
_SWEEP_PAUSE_MS = 1


@dataclass(frozen=True, slots=True)
class Release:
    """What to run: every string is bytes as latin-1, so that any byte survives JSON. Limits are bytes, counts
    and seconds by resource name; each is lowered to what the system allows.
    """

    controller: int
    argv: list[bytes]
    cwd: bytes
    env: dict[bytes, bytes]
    limits: dict[str, int]

    @classmethod
    def parse(cls, line: bytes) -> Release:
        """From the controller's line; it is trusted."""
        raw = json.loads(line)
        return cls(raw["controller"], [_bytes(word) for word in raw["argv"]], _bytes(raw["cwd"]),
                   {_bytes(name): _bytes(value) for name, value in raw["env"]}, raw["limits"])


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def _report(channel: int, event: str, **facts: object) -> None:
    with contextlib.suppress(BrokenPipeError):  # the controller is gone; the leash says so too
        os.write(channel, json.dumps({"event": event, **facts}).encode() + b"\n")


def _read_release() -> Release | None:
    """The controller's line, or ``None`` when the leash ended first."""
    line = bytearray()
    while not line.endswith(b"\n"):
        chunk = os.read(_LEASH, 1 << 16)
        if not chunk or len(line) > _MAX_RELEASE:
            return None
        line += chunk
    return Release.parse(bytes(line))


# --- the command ------------------------------------------------------------------------------------------


def _become_command(release: Release, failure: int) -> NoReturn:
    """In the fork: the last steps before the command's own code. Never returns; reports an errno instead."""
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _be_first_to_go_when_memory_is_short()
        os.chdir(release.cwd)
        os.umask(0o022)
        for name, value in release.limits.items():
            _limit(getattr(resource, f"RLIMIT_{name.upper()}"), value)
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            with contextlib.suppress(OSError):  # numbers that the C library keeps for itself
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvpe(release.argv[0], release.argv, release.env)  # noqa: S606  an argv, no shell
    except OSError as error:
        os.write(failure, str(error.errno or errno.EIO).encode())
    except ValueError:  # a NUL byte in argv or environment
        os.write(failure, str(errno.EINVAL).encode())
    finally:
        os._exit(127)


def _be_first_to_go_when_memory_is_short() -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        try:
            os.write(descriptor, b"1000")
        finally:
            os.close(descriptor)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (lowered, lowered))


def _silence_output() -> None:
    """Let go of the workload's streams: their end must mean that no workload holds them."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.close(null)


# --- the keeper -------------------------------------------------------------------------------------------


def _keep(release: Release, channel: int) -> None:
    """In the keeper: start the command, wait for it, report."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_PR_SET_DUMPABLE, 0)
    failed, failure = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, _LEASH)
    begun = time.monotonic()
    command = os.fork()
    if command == 0:
        _become_command(release, failure)
    os.close(failure)
    _silence_output()
    reason = os.read(failed, 16)
    _, status = os.waitpid(command, 0)
    wall_us = round((time.monotonic() - begun) * 1e6)
    if reason:
        kind, code = "not_started", int(reason)
    elif os.WIFSIGNALED(status):
        kind, code = "signaled", os.WTERMSIG(status)
    else:
        kind, code = "exited", os.WEXITSTATUS(status)
    _report(channel, "ended", kind=kind, code=code, wall_us=wall_us)


# --- the guard --------------------------------------------------------------------------------------------


def _fork_keeper(release: Release, channel: int) -> int:
    keeper = os.fork()
    if keeper == 0:
        try:
            _keep(release, channel)
        finally:
            os._exit(0)
    return keeper


def _reap() -> set[int] | None:
    """Collect every child that has ended; ``None`` when there is no child at all, so no descendant either."""
    ended: set[int] = set()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if pid == 0:
            return ended
        ended.add(pid)


def _watch(keeper: int, wakeup: int, controller: int) -> None:
    """Until the keeper ends, the leash ends, or the controller is no longer our parent."""
    poll = select.poll()
    poll.register(_LEASH, select.POLLIN | select.POLLHUP)
    poll.register(wakeup, select.POLLIN)
    while os.getppid() == controller:
        ended = _reap()
        if ended is None or keeper in ended:
            return
        for descriptor, _ in poll.poll():
            if descriptor == _LEASH:
                return
            os.read(wakeup, 4096)


def _end_everything() -> None:
    """KILL until no child is left.

    Only our own children are ever signalled, with their process groups. A child's number cannot be reused
    before we reap it, and a session made by a descendant holds nothing but descendants, so nothing else can
    be hit. What a killed child leaves behind becomes our child, and has its turn in the next round.
    """
    ours = os.getpgrp()
    while _reap() is not None:
        for child in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                group = os.getpgid(child)
                if group != ours:
                    os.killpg(group, signal.SIGKILL)
                os.kill(child, signal.SIGKILL)
        select.poll().poll(_SWEEP_PAUSE_MS)


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children", "rb") as listed:
            return [int(word) for word in listed.read().split()]
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == me]


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as listed:
            return int(listed.read().rpartition(b")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def _listen_to_signals() -> int:
    """A descriptor that becomes readable on SIGCHLD and SIGTERM; every other signal is ignored."""
    wakeup, writer = os.pipe()
    for descriptor in (wakeup, writer):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: None)
    return wakeup


def main() -> None:
    """Guard one run, from release to the end of everything it started."""
    channel = int(sys.argv[1])
    os.set_inheritable(channel, False)
    wakeup = _listen_to_signals()
    _prctl(_PR_SET_DUMPABLE, 0)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    _report(channel, "ready")
    release = _read_release()
    if release is None:
        return
    keeper = _fork_keeper(release, channel)
    _silence_output()
    _watch(keeper, wakeup, release.controller)
    _end_everything()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    _report(channel, "over", user_us=round(used.ru_utime * 1e6), system_us=round(used.ru_stime * 1e6),
            max_rss=used.ru_maxrss * 1024)


if __name__ == "__main__":
    main()
