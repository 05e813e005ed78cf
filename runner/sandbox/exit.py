"""How a run ended: what the engine and our init said, and the one rule that turns it into a cause.

Facts come from the engine and from our own init; what the workload wrote is only a claim. So
*killed by us*, *out of memory*, *signal* and *exit code* stay separate, and the exit codes 125 to 127,
137, 139 and 143 are never guessed from.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

TIMEOUT_RETURNCODE = 124
_SIGNAL_BASE = 128
_SIGKILL = 9
_SIGXFSZ = 25
_MAX_SIGNAL = 64


class Cause(StrEnum):
    """Why a run is over."""

    EXITED = "exited"
    SIGNALED = "signaled"
    OOM_KILLED = "oom_killed"
    TIMED_OUT = "timed_out"
    OUTPUT_LIMIT = "output_limit"
    DISK_LIMIT = "disk_limit"
    INIT_LOST = "init_lost"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    NOT_STARTED = "not_started"


RESOURCE_CAUSES = frozenset({Cause.OOM_KILLED, Cause.OUTPUT_LIMIT, Cause.DISK_LIMIT})
"""Causes that mean a resource ran out; such a run is never accepted."""


class StopReason(StrEnum):
    """Why *we* ended a run, if we did."""

    DEADLINE = "deadline"
    OUTPUT = "output"
    CANCEL = "cancel"
    DONE = "done"
    """Nothing needs it any more: an application whose browser session is over."""


@dataclass(frozen=True, slots=True)
class Trailer:
    """What our init reported about the main process, authenticated by the run's nonce.

    ``code`` is an exit code, a signal number or (``not_started``) an errno. CPU times are microseconds,
    ``peak_memory`` is the cgroup's high-water mark in bytes, ``oom_kills`` how many processes the kernel killed in
    it for want of memory; ``None`` where the boundary hides a figure.
    """

    kind: Literal["exited", "signaled", "not_started"]
    code: int
    user_us: int = 0
    system_us: int = 0
    max_rss: int = 0
    peak_memory: int | None = None
    oom_kills: int | None = None


@dataclass(frozen=True, slots=True)
class ExitFacts:
    """Everything known about the end of a run before it is judged."""

    trailer: Trailer | None
    engine_exit_code: int | None
    oom_flag: bool = False
    stopped: StopReason | None = None
    shell_text: bool = False
    start_refused: str | None = None


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """The end of a run, classified.

    ``returncode`` is 124 when timed out and 128+N for a signal; ``engine_exit_code`` is what the engine said.
    ``signal_hint`` is what shell text claims when it returns 128+N. ``child_oom`` says that something in
    the sandbox, but not the main process, was killed for memory.
    """

    cause: Cause
    returncode: int | None
    signal: int | None = None
    signal_hint: int | None = None
    child_oom: bool = False
    engine_exit_code: int | None = None
    detail: str = ""


def classify_exit(facts: ExitFacts) -> ExitStatus:
    """Order of evidence: start refused, stopped by us, the init's trailer with the OOM flag, no trailer."""
    engine = facts.engine_exit_code
    if facts.start_refused is not None:
        return ExitStatus(Cause.NOT_STARTED, None, engine_exit_code=engine, detail=facts.start_refused)
    if facts.stopped is not None:
        return _stopped_by_us(facts.stopped, facts.oom_flag, engine)
    if facts.trailer is None:
        if facts.oom_flag:
            return ExitStatus(Cause.OOM_KILLED, _SIGNAL_BASE + _SIGKILL, _SIGKILL, engine_exit_code=engine)
        return ExitStatus(Cause.INIT_LOST, None, engine_exit_code=engine,
                          detail="the sandbox ended without its init's trailer")
    return _from_trailer(facts.trailer, facts)


def _stopped_by_us(reason: StopReason, oom_flag: bool, engine: int | None) -> ExitStatus:
    cause, code = {
        StopReason.DEADLINE: (Cause.TIMED_OUT, TIMEOUT_RETURNCODE),
        StopReason.OUTPUT: (Cause.OUTPUT_LIMIT, _SIGNAL_BASE + _SIGKILL),
        StopReason.CANCEL: (Cause.CANCELLED, None),
        StopReason.DONE: (Cause.STOPPED, None),
    }[reason]
    return ExitStatus(cause, code, child_oom=oom_flag, engine_exit_code=engine)


def _from_trailer(trailer: Trailer, facts: ExitFacts) -> ExitStatus:
    engine, oom = facts.engine_exit_code, facts.oom_flag
    if trailer.kind == "not_started":
        return ExitStatus(Cause.NOT_STARTED, None, engine_exit_code=engine, child_oom=oom,
                          detail=f"the command could not be started: {os.strerror(trailer.code)}")
    if trailer.kind == "signaled":
        returncode = _SIGNAL_BASE + trailer.code
        if oom and trailer.code == _SIGKILL:
            return ExitStatus(Cause.OOM_KILLED, returncode, trailer.code, engine_exit_code=engine)
        cause = Cause.DISK_LIMIT if trailer.code == _SIGXFSZ else Cause.SIGNALED
        return ExitStatus(cause, returncode, trailer.code, child_oom=oom, engine_exit_code=engine)
    hint = trailer.code - _SIGNAL_BASE
    claimed = hint if facts.shell_text and 0 < hint <= _MAX_SIGNAL else None
    return ExitStatus(Cause.EXITED, trailer.code, signal_hint=claimed, child_oom=oom, engine_exit_code=engine)
