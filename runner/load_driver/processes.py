"""Programs of the scenario: each leads a group of its own, is given so long, and leaves nobody behind."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TERM_SECONDS, KILL_SECONDS = 2.0, 1.0
_BLOCK = 1 << 16
_POLL = 0.02


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``returncode`` is negative for a signal, as subprocess has it; ``None``: never started."""

    returncode: int | None
    timed_out: bool
    seconds: float
    survivors: bool = False
    why: str = ""


class Copier:
    """Copies a stream to where it is kept, up to a cap; what is beyond is read all the same, and counted."""

    def __init__(self, keep: Callable[[bytes], object], cap: int) -> None:
        self.dropped = 0
        self._keep = keep
        self._room = cap
        self._thread: threading.Thread | None = None

    def follow(self, source: IO[bytes]) -> None:
        """In a thread, until the stream ends."""
        self._thread = threading.Thread(target=self._copy, args=(source,), daemon=True)
        self._thread.start()

    def join(self, seconds: float) -> None:
        """Wait until the stream has ended."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _copy(self, source: IO[bytes]) -> None:
        with source:
            while block := os.read(source.fileno(), _BLOCK):
                kept = block[:max(self._room, 0)]
                self._room -= len(kept)
                self.dropped += len(block) - len(kept)
                if kept:
                    with suppress(OSError):  # the volume is full: it is counted by who reads the file
                        self._keep(kept)


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float, stdout: Copier,
        stderr: Copier) -> Ended:
    """Run a program to its end, or stop it when its time is over; its whole group is gone afterwards."""
    begun = time.monotonic()
    try:
        process = subprocess.Popen(list(argv), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        return Ended(None, timed_out=False, seconds=0.0, why=f"cannot be started: {type(error).__name__}")
    assert process.stdout is not None
    assert process.stderr is not None
    stdout.follow(process.stdout)
    stderr.follow(process.stderr)
    timed_out = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        survivors = not _ended(process)
    for copier in (stdout, stderr):
        copier.join(KILL_SECONDS)
    return Ended(process.returncode, timed_out, time.monotonic() - begun, survivors)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """TERM, 2 s, KILL, 1 s, KILL to the group again, up to 1 s to see it gone; whether it is."""
    if process.poll() is None:
        _tell(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(TERM_SECONDS)
    _tell(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)
    _tell(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + KILL_SECONDS
    while _is_there(process.pid):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True


def _tell(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_there(group: int) -> bool:
    """Zombies are nobody: whoever takes in orphans here reaps them in its own time."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError, ValueError):
                state, _, member = Path(entry.path, "stat").read_bytes().rpartition(b")")[2].split()[:3]
                if int(member) == group and state not in (b"Z", b"X"):
                    return True
    return False
