"""The contract of a command failure: what a run must show to count as the recorded failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class JavaSignature:
    """Class, message (whitespace folded) and the first frames of a Java exception."""

    class_name: str
    message: str
    frames: tuple[str, ...]
    kind: Literal["java"] = "java"


@dataclass(frozen=True, slots=True)
class PythonSignature:
    """Class, message and innermost frames of a Python exception.

    ``rooted`` selects ReproMin's frame rule ``execution-root-relative-v1``; otherwise its legacy rule.
    """

    class_name: str
    message: str
    frames: tuple[str, ...]
    rooted: bool = True
    kind: Literal["python"] = "python"


@dataclass(frozen=True, slots=True)
class ProcessSignature:
    """How the main process ended, by kind and code.

    ``signal_as_exit``: recorded through a docker client, which reports the death by signal N as exit code
    128+N. Such an ``exit_code`` is also met by that signal; any other is met by an exit only.
    """

    process_kind: Literal["posix_signal", "windows_status", "exit_code"]
    code: int
    name: str | None = None
    signal_as_exit: bool = False
    kind: Literal["process"] = "process"


Signature = JavaSignature | PythonSignature | ProcessSignature


@dataclass(frozen=True, slots=True)
class Contract:
    """All of: the exit code (``None``: any but 0), the pattern (``None`` or empty: any), the signature.

    With a process signature the exit code is not pinned.
    """

    exit_code: int | None = None
    match: str | None = None
    signature: Signature | None = None

    @property
    def mode(self) -> str:
        """ReproMin's name for the kind of contract (``oracle_mode``)."""
        if self.signature is not None:
            return {"java": "java_exception", "python": "python_exception",
                    "process": "process_failure"}[self.signature.kind]
        if not self.match:
            return "exit_code"
        return "match_and_exit_code" if self.exit_code is not None else "match_or_exit"
