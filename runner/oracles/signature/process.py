"""The end of the main process as a signature. Facts only: what a shell or a program claims is no signal."""

from __future__ import annotations

import signal

from runner.oracles.contract import ProcessSignature
from runner.sandbox.exit import Cause, ExitStatus

_SIGNAL_BASE = 128


def process_signature(status: ExitStatus) -> ProcessSignature | None:
    """What a run's end can be recorded as; ``None`` for success, a cut-off run or a lost resource.

    Exit code 139 that a program chose stays an exit code.
    """
    if status.cause is Cause.SIGNALED and status.signal is not None:
        return ProcessSignature("posix_signal", status.signal, signal_name(status.signal))
    if status.cause is Cause.EXITED and status.returncode:
        return ProcessSignature("exit_code", status.returncode)
    return None


def process_mismatch(recorded: ProcessSignature, status: ExitStatus) -> str | None:
    """Why this end is not the recorded one, in plain words; ``None`` if it is.

    A windows_status never occurs here. Signal 25 (SIGXFSZ) is a lost resource, so it is never met.
    """
    seen = process_signature(status)
    if recorded.process_kind == "windows_status":
        return "a Windows status cannot occur on this platform"
    if seen is None:
        return "the process did not end in a failure of its own"
    if (seen.process_kind, seen.code) == (recorded.process_kind, recorded.code):
        return None
    if recorded.signal_as_exit and seen.process_kind == "posix_signal" \
            and recorded.process_kind == "exit_code" and seen.code + _SIGNAL_BASE == recorded.code:
        return None
    return f"{describe_end(status)}, recorded was {_describe(recorded)}"


def describe_end(status: ExitStatus) -> str:
    """How the main process ended, in plain words."""
    if status.signal is not None:
        return f"killed by {_describe_signal(status.signal)}"
    if status.returncode is None:
        return "ended without an exit code"
    claim = ""
    if status.signal_hint is not None:
        claim = f", which is the shell's claim of {_describe_signal(status.signal_hint)}"
    return f"exit code {status.returncode}{claim}"


def signal_name(number: int) -> str | None:
    """``SIGSEGV`` for 11; ``None`` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


def _describe(recorded: ProcessSignature) -> str:
    if recorded.process_kind == "posix_signal":
        return _describe_signal(recorded.code)
    return f"exit code {recorded.code}"


def _describe_signal(number: int) -> str:
    name = signal_name(number)
    return f"signal {number} ({name})" if name else f"signal {number}"
