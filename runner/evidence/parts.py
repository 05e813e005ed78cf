"""Records that several documents of the evidence are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Cannot be changed, and has no other fields. Validators are built at the first use: most commands have none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class StreamRecord(Frozen):
    """One output stream. ``file``, relative to the run directory, holds what was kept of it.

    ``bytes`` and ``sha256`` are of all that came; ``kept`` and ``kept_sha256`` of the file. They differ when the
    stream was truncated, or when ``masked`` bytes of the file stand for credentials.
    """

    bytes: int
    sha256: str
    truncated: bool
    kept: int
    kept_sha256: str
    masked: int = 0
    file: str | None = None


class FingerprintRecord(Frozen):
    """Digests of a tree's manifest, and its counts."""

    exact: str
    content: str
    entries: int
    files: int
    bytes: int


class ChangeRecord(Frozen):
    """One difference between the sealed tree and the tree after the run. ``path`` is printable text."""

    kind: str
    path: str
    detail: str = ""


class PolicyRecord(Frozen):
    """The policy in force, after every overlay."""

    name: str
    sha256: str
    seccomp_sha256: str
    effective: dict[str, Any]


class ImageRecord(Frozen):
    """Which image was asked for and which was used; its own environment is shown and digested."""

    recorded_id: str | None
    used_id: str
    name: str
    platform: str
    matched: str
    environment: tuple[str, ...] = ()
    environment_sha256: str = ""
