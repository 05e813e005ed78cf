"""Client of the steward."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from runner.evidence.observation import Artifact
from runner.payload.fingerprint import Change, Fingerprint
from runner.payload.seal import SealedPayload


class Channel(Protocol):
    """A byte stream to the steward's stdin and from its stdout."""

    def send(self, data: bytes) -> None:
        """Send all of ``data``. Raises StewardLost."""

    def receive(self, count: int) -> bytes:
        """Exactly ``count`` bytes. Raises StewardLost."""


class MountFacts(NamedTuple):
    """A mount as the kernel sees it: bytes, inodes, file system, options of mount and superblock."""

    total_bytes: int
    inodes: int
    fstype: str
    options: tuple[str, ...]


class StewardHello(NamedTuple):
    """What the steward found in its container. ``volumes[0]`` is volume 1."""

    protocol: int
    pristine: MountFacts
    volumes: tuple[MountFacts, ...]
    init_sha256: str


class ChangeList(NamedTuple):
    """What a run did to its tree. ``after`` is ``None`` and ``note`` says why when a cap was hit."""

    after: Fingerprint | None
    changes: tuple[Change, ...]
    note: str


class Collection(NamedTuple):
    """Declared artifacts; ``note`` says what was skipped."""

    artifacts: tuple[Artifact, ...]
    note: str


class Usage(NamedTuple):
    """statfs of a volume."""

    total_bytes: int
    free_bytes: int
    inodes: int
    free_inodes: int


class Steward:
    """Typed calls, one at a time, over a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def hello(self) -> StewardHello:
        """What is mounted, and the digest of the init."""
        raise NotImplementedError

    def put(self, sealed: SealedPayload) -> Fingerprint:
        """Send the payload, once; the fingerprint read back."""
        raise NotImplementedError

    def clone(self, volume: int) -> None:
        """Copy pristine into volume (from 1)."""
        raise NotImplementedError

    def fingerprint(self, volume: int) -> Fingerprint:
        """Read the volume."""
        raise NotImplementedError

    def changes(self, volume: int) -> ChangeList:
        """Compare the volume with pristine."""
        raise NotImplementedError

    def collect(self, volume: int, patterns: tuple[str, ...], max_files: int, max_bytes: int) -> Collection:
        """Take declared artifacts."""
        raise NotImplementedError

    def get(self, volume: int, patterns: tuple[str, ...], max_files: int, max_bytes: int) -> tuple[Artifact, ...]:
        """Artifacts of :meth:`collect`."""
        return self.collect(volume, patterns, max_files, max_bytes).artifacts

    def usage(self, volume: int) -> Usage:
        """Fullness of a volume."""
        raise NotImplementedError

    def wipe(self, volume: int) -> None:
        """Empty a volume."""
        raise NotImplementedError
