"""The first pass over a bundle's payload: admitted entry by entry, hashed as it goes by, judged as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from runner.bundle.entries import next_entry
from runner.bundle.frame import Frame
from runner.bundle.layout import MAX_TEXT_BYTES, PREFIX
from runner.bundle.rules import refused
from runner.errors import printable
from runner.payload.fingerprint import Manifest
from runner.payload.names import collisions
from runner.payload.rules import judge
from runner.payload.tree import Entry, Found, Kind, SealLimits
from runner.payload.writer import TreeWriter


def read_payload(frame: Frame, limits: SealLimits, into: TreeWriter | None) -> Manifest:
    """Everything up to the end of the archive, by the rules of sealing; written down on the way if ``into`` is there.

    Raises BundleRefused, and OSError for what cannot be written.
    """
    admission = _Admission(limits)
    entries: list[Entry] = []
    while (entry := next_entry(frame)) is not None:
        if not entry.path.startswith(PREFIX):
            raise refused("layout", f"{printable(entry.path[:80])} after the payload's directory")
        entry = entry._replace(path=entry.path.removeprefix(PREFIX))
        admission.check(entry)
        entries.append(_take(frame, entry, into))
    _judge(entries, limits)
    return Manifest(entries)


def _take(frame: Frame, entry: Entry, into: TreeWriter | None) -> Entry:
    """The entry with its digest."""
    if entry.kind is not Kind.FILE:
        if into is not None:
            into.add(entry)
        return entry
    digest = sha256()

    def content() -> Iterator[bytes]:
        for data in frame.pieces(entry.size):
            digest.update(data)
            yield data

    if into is not None:
        into.file(entry, content())
    else:
        for _ in content():
            pass
    return entry._replace(digest=digest.digest())


class _Admission:
    """What the payload may still bring: caps and order, before anything of an entry is read."""

    def __init__(self, limits: SealLimits) -> None:
        self._limits = limits
        self._entries = self._bytes = self._text = 0
        self._last = b""
        self._directories = {b""}

    def check(self, entry: Entry) -> None:
        """Raise BundleRefused, naming the rule that the entry breaks."""
        limits, path = self._limits, entry.path
        parent, _, name = path.rpartition(b"/")
        self._entries += 1
        self._text += len(path) + len(entry.target)
        self._bytes += entry.size if entry.kind is Kind.FILE else 0
        for broken, rule in ((path <= self._last, "order"), (self._entries > limits.files, "too_many_files"),
                             (self._text > MAX_TEXT_BYTES, "too_much_text"), (self._bytes > limits.bytes, "too_large"),
                             (path.count(b"/") >= limits.depth, "too_deep"),
                             (len(name) > limits.name_bytes, "name_too_long"),
                             (len(path) > limits.path_bytes, "path_too_long"),
                             (parent not in self._directories, "no_parent")):
            if broken:
                raise refused(rule, path=path[:200])
        self._last = path
        if entry.kind is Kind.DIR:
            self._directories.add(path)


def _judge(entries: list[Entry], limits: SealLimits) -> None:
    """Where links lead, and which names collide: only of a whole tree can that be said."""
    problems = judge([_as_found(entry) for entry in entries], limits)
    if limits.portable_names:
        problems += collisions(entry.path for entry in entries)
    if problems:
        first = min(problems, key=lambda problem: problem.path)
        raise refused(first.rule, first.detail, path=first.path)


def _as_found(entry: Entry) -> Found:
    return Found(entry.path, entry.kind, entry.mode, entry.mtime_ns, entry.size, entry.target,
                 device=0, inode=0, links=1)
