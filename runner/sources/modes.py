"""Mode bits as a report records them: what most entries have, and the exceptions by path.

A content digest says nothing of modes, so this is what lets a replay name each one that drifted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from runner.case import RecordedModes
from runner.payload.escape import escape
from runner.payload.fingerprint import Change, Manifest
from runner.payload.tree import Entry, Kind

MAX_OTHERS = 1000
"""With more exceptions than this, modes are not recorded at all."""

_USUAL_FILE, _USUAL_DIRECTORY = 0o644, 0o755


def modes_of(manifest: Manifest) -> RecordedModes | None:
    """The modes of a tree; ``None`` when they cannot be said briefly."""
    entries = _with_modes(manifest)
    file = _most_common(entries, Kind.FILE, _USUAL_FILE)
    directory = _most_common(entries, Kind.DIR, _USUAL_DIRECTORY)
    usual = {Kind.FILE: file, Kind.DIR: directory}
    others = tuple((_name(entry), entry.mode) for entry in entries if entry.mode != usual[entry.kind])
    return RecordedModes(file, directory, others) if len(others) <= MAX_OTHERS else None


def mode_drift(recorded: RecordedModes, manifest: Manifest) -> tuple[Change, ...]:
    """Every entry whose mode is not the recorded one, sorted by path."""
    others = dict(recorded.others)
    usual = {Kind.FILE: recorded.file, Kind.DIR: recorded.directory}
    wanted = ((entry, others.get(_name(entry), usual[entry.kind])) for entry in _with_modes(manifest))
    return tuple(Change("mode", entry.path, f"{mode:04o} to {entry.mode:04o}")
                 for entry, mode in wanted if entry.mode != mode)


def _with_modes(manifest: Manifest) -> list[Entry]:
    return [entry for entry in manifest.entries if entry.kind in (Kind.FILE, Kind.DIR)]


def _most_common(entries: Iterable[Entry], kind: Kind, default: int) -> int:
    counted = Counter(entry.mode for entry in entries if entry.kind is kind)
    return max(counted, key=lambda mode: (counted[mode], -mode), default=default)


def _name(entry: Entry) -> str:
    return escape(entry.path).decode("ascii")
