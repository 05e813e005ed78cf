"""A payload that was looked at once and judged: what it is stays in memory, its content stays where it lies."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from runner.payload.fingerprint import Fingerprint, Manifest
from runner.payload.stream import Chunk
from runner.payload.tree import SealLimits


class PayloadSource(Protocol):
    """Where the content of a payload lies, to be read more than once and by several threads at a time."""

    @property
    def path(self) -> bytes:
        """The directory or the file that holds it, as the caller named it."""

    @property
    def file_sha256(self) -> str | None:
        """Digest of the one file that holds it (a bundle); ``None`` for a directory."""

    def stream(self, manifest: Manifest, prefix: bytes) -> Generator[Chunk]:
        """The canonical tar stream, each path behind ``prefix``. Raises PayloadChanged before its end."""

    def check_unchanged(self, manifest: Manifest, limits: SealLimits) -> None:
        """Read everything again. Raises PayloadChanged, naming what differs."""


class SealedPayload:
    """A payload that was walked, judged and fingerprinted."""

    __slots__ = ("fingerprint", "limits", "manifest", "source")

    def __init__(self, source: PayloadSource, manifest: Manifest, limits: SealLimits) -> None:
        self.source = source
        self.manifest = manifest
        self.limits = limits
        self.fingerprint: Fingerprint = manifest.fingerprint()

    @property
    def path(self) -> bytes:
        """The directory, or the bundle, that holds the payload."""
        return self.source.path

    @property
    def files(self) -> int:
        """Number of regular files."""
        return self.fingerprint.files

    @property
    def bytes(self) -> int:
        """Total size of the regular files."""
        return self.fingerprint.bytes

    def stream(self, prefix: Chunk = b"") -> Generator[Chunk]:
        """The canonical tar stream (see :mod:`runner.payload.tar`), read anew from the source.

        Raises PayloadChanged, before the end of the stream, when something is no longer what was sealed.
        """
        return self.source.stream(self.manifest, prefix)


def check_unchanged(sealed: SealedPayload) -> None:
    """Read the payload again. Raises PayloadChanged, naming the first path that differs.

    Modes and times count too; content is always read, so a rewrite that restores size and time is seen.
    """
    sealed.source.check_unchanged(sealed.manifest, sealed.limits)
