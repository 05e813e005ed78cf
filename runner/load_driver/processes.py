"""Programs of the scenario: each leads a group of its own, is given so long, and leaves nobody behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.load_driver.copying import Copier
from runner.load_driver.stopping import Stop

TERM_SECONDS, KILL_SECONDS = 2.0, 1.0
_POLL = 0.01


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended. ``returncode`` is negative for a signal, as subprocess has it; ``None``: never started, and
    ``why`` says it, or not even gone after the last kill. ``stopped``: its end was asked for before its time was over.
    ``group``: the number of its process group.
    """

    returncode: int | None
    timed_out: bool = False
    stopped: bool = False
    seconds: float = 0.0
    survivors: bool = False
    why: str = ""
    group: int | None = None


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], seconds: float, stdout: Copier, stderr: Copier,
        stop: Stop | None = None, leave: bool = False) -> Ended:
    """Run a program to its end, or stop it when its time is over; its whole group is gone afterwards. ``leave``: if it
    ends by itself, what it started in the background stays, for :func:`end_group`.
    """
    begun = time.monotonic()
    try:
        process = subprocess.Popen(list(argv), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    except (OSError, ValueError) as error:
        return Ended(None, why=f"cannot be started: {_words(error)}")
    assert process.stdout is not None
    assert process.stderr is not None
    stdout.follow(process.stdout)
    stderr.follow(process.stderr)
    while process.poll() is None and time.monotonic() - begun < seconds and not (stop is not None and stop.asked):
        time.sleep(_POLL)
    running = process.returncode is None
    stopped = running and stop is not None and stop.asked
    survivors = False if leave and not running else not _ended(process)
    for copier in (stdout, stderr):
        copier.finish(KILL_SECONDS)
    return Ended(process.returncode, running and not stopped, stopped, time.monotonic() - begun, survivors,
                 group=process.pid)


def end_group(group: int) -> bool:
    """Kill whoever is left of a group; whether it is gone."""
    _tell(group, signal.SIGKILL)
    deadline = time.monotonic() + KILL_SECONDS
    while _is_there(group):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL)
    return True


def _words(error: OSError | ValueError) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or type(error).__name__


def _ended(process: subprocess.Popen[bytes]) -> bool:
    """TERM, 2 s, KILL, 1 s, KILL to the group again, up to 1 s to see it gone; whether it is."""
    if process.poll() is None:
        _tell(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(TERM_SECONDS)
    _tell(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)
    return end_group(process.pid)


def _tell(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _is_there(group: int) -> bool:
    """Zombies are nobody: whoever takes in orphans here reaps them in its own time."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError):
                state, _, member = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()[:3]
                if int(member) == group and state not in (b"Z", b"X"):
                    return True
    return False
