"""Manifests of a tree, their fingerprints, and the difference of two."""

from __future__ import annotations

from typing import Literal, NamedTuple

from runner.payload.tree import Entry

SCHEME = "manifest-sha256-v1"
ChangeKind = Literal["added", "removed", "modified", "mode"]


class Fingerprint(NamedTuple):
    """Both digests of a tree (lowercase hex) and what was counted."""

    exact: str
    content: str
    entries: int
    files: int
    bytes: int


class Change(NamedTuple):
    """One difference between two trees. ``detail`` is printable text."""

    kind: ChangeKind
    path: bytes
    detail: str


class Manifest:
    """All entries of a tree, sorted by raw path bytes, without the root."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = tuple(entries)

    def render(self, *, exact: bool) -> bytes:
        """Canonical bytes."""
        raise NotImplementedError

    def fingerprint(self) -> Fingerprint:
        """Both digests."""
        raise NotImplementedError

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Inverse of ``render(exact=True)``."""
        raise NotImplementedError


def diff(before: Manifest, after: Manifest) -> tuple[Change, ...]:
    """What happened between two trees, sorted by path."""
    raise NotImplementedError
