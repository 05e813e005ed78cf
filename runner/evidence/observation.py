"""What was seen of one run. Frozen, made once by the controller, read by oracles, store and reports."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from runner.payload.fingerprint import Change, Fingerprint
from runner.sandbox.exit import ExitStatus


@dataclass(frozen=True, slots=True)
class Stored:
    """Bytes that were written down: how many, their digest, and how many of them are masked credentials."""

    bytes: int
    sha256: str
    masked: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """One output stream: exact count and digest of everything seen, head and tail kept.

    ``head`` holds the first bytes; ``tail`` the last ones that ``head`` does not hold. When
    ``truncated`` there is a gap between them. Once it is ``stored``, both are empty.
    """

    bytes: int = 0
    sha256: str = sha256(b"").hexdigest()
    truncated: bool = False
    head: builtins.bytes = b""
    tail: builtins.bytes = b""
    stored: Stored | None = None

    @property
    def kept(self) -> builtins.bytes:
        """What is available for matching."""
        return self.head + self.tail


@dataclass(frozen=True, slots=True)
class Artifact:
    """One declared file taken out of the volume after the run. Once it is ``stored``, ``data`` is empty."""

    path: bytes
    data: bytes
    stored: Stored | None = None


class Workspace(StrEnum):
    """State of the work volume after the run, by statfs."""

    ROOM = "room"
    FULL_BYTES = "full_bytes"
    FULL_INODES = "full_inodes"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Observation:
    """One finished run. Times are seconds, memory is bytes; ``None`` where the boundary hides it.

    ``root`` is the absolute path of the work tree as the workload saw it. ``target`` is the application that a
    browser's driver worked on in this run.
    """

    index: int
    status: ExitStatus
    stdout: Stream = field(default_factory=Stream)
    stderr: Stream = field(default_factory=Stream)
    output_sha256: str = sha256(b"").hexdigest()
    wall_seconds: float = 0.0
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    before: Fingerprint | None = None
    after: Fingerprint | None = None
    changes: tuple[Change, ...] = ()
    changes_note: str = ""
    artifacts: tuple[Artifact, ...] = ()
    workspace: Workspace = Workspace.UNKNOWN
    root: str = "/workspace"
    target: Observation | None = None
