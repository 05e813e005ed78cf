"""Sealing a payload."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from runner.payload.fingerprint import Fingerprint, Manifest
from runner.payload.tree import SealLimits

__all__ = ["Refusal", "SealLimits", "SealedPayload", "Survey", "check_unchanged", "seal", "survey"]

Chunk = bytes


class SealedPayload:
    """A payload that was walked, judged and fingerprinted, still in the caller's directory."""

    def __init__(self, root: bytes, manifest: Manifest, limits: SealLimits) -> None:
        self.root = root
        self.manifest = manifest
        self.limits = limits

    @property
    def fingerprint(self) -> Fingerprint:
        """Fingerprint of the manifest."""
        raise NotImplementedError

    @property
    def files(self) -> int:
        """Number of regular files."""
        raise NotImplementedError

    @property
    def bytes(self) -> int:
        """Total size of the regular files."""
        raise NotImplementedError

    def stream(self) -> Iterator[Chunk]:
        """The canonical tar stream. Raises PayloadChanged when a file is no longer what was sealed."""
        raise NotImplementedError


def seal(path: str | bytes | os.PathLike[str], limits: SealLimits) -> SealedPayload:
    """Walk once without following links. Raises PayloadRefused, PayloadChanged."""
    raise NotImplementedError


def check_unchanged(sealed: SealedPayload) -> None:
    """Walk again. Raises PayloadChanged, naming the first path that differs."""
    raise NotImplementedError


class Refusal(NamedTuple):
    """Why an entry is refused."""

    rule: str
    path: bytes
    message: str


class Survey(NamedTuple):
    """What sealing would say. ``fingerprint`` is ``None`` where the tree cannot be read as a whole."""

    refusals: tuple[Refusal, ...]
    entries: int
    files: int
    bytes: int
    fingerprint: Fingerprint | None


def survey(path: str | bytes | os.PathLike[str], limits: SealLimits) -> Survey:
    """Every refusal instead of the first, with counts."""
    raise NotImplementedError
