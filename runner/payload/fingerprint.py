"""Manifests, fingerprints and differences of trees.

The format ``manifest-sha256-v1`` is ours and is documented byte for byte in ``docs/fingerprints.md``. A
header line names scheme and mode; then comes one line an entry, sorted by the raw bytes of its path, without
the root::

    content   KIND PATH SIZE VALUE
    exact     KIND PATH SIZE VALUE MODE MTIME

A fingerprint is the SHA-256 of the whole manifest in one of these modes, in lowercase hex.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, NamedTuple

from runner.errors import ReportError, printable
from runner.payload.escape import escape, unescape
from runner.payload.tree import Entry, Kind

SCHEME = "manifest-sha256-v1"
ChangeKind = Literal["added", "removed", "modified", "mode"]

_HEADERS = {exact: f"{SCHEME} {'exact' if exact else 'content'}\n".encode() for exact in (False, True)}
_WORDS = {Kind.FILE: "file", Kind.DIR: "directory", Kind.LINK: "link", Kind.FIFO: "fifo",
          Kind.SOCKET: "socket", Kind.DEVICE: "device"}
_SHOWN_TARGET = 200
"""Bytes of a link target that a change's detail shows."""


class Fingerprint(NamedTuple):
    """Both digests of a tree, and what was counted: entries of every kind, files, bytes of the files."""

    exact: str
    content: str
    entries: int
    files: int
    bytes: int


class Change(NamedTuple):
    """One difference between two trees. ``mode`` is a change of permission bits; ``detail`` is printable.

    A path can have two changes: ``modified`` and ``mode``. A difference of times alone is no change.
    """

    kind: ChangeKind
    path: bytes
    detail: str


class Manifest:
    """All entries of a tree, sorted by raw path bytes. Immutable."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(sorted(entries))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Manifest) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(self.entries)

    @property
    def complete(self) -> bool:
        """Whether every file has a digest; only then is there something to render."""
        return all(entry.digest is not None for entry in self.entries if entry.kind is Kind.FILE)

    def render(self, *, exact: bool) -> bytes:
        """The canonical bytes. Raises ValueError when a file was not read."""
        return _HEADERS[exact] + b"".join(_lines(self.entries)[exact])

    def fingerprint(self) -> Fingerprint:
        """Both digests and the counts. Raises ValueError when a file was not read."""
        content, exact = _lines(self.entries)
        files = [entry.size for entry in self.entries if entry.kind is Kind.FILE]
        return Fingerprint(
            exact=sha256(_HEADERS[True] + b"".join(exact)).hexdigest(),
            content=sha256(_HEADERS[False] + b"".join(content)).hexdigest(),
            entries=len(self.entries), files=len(files), bytes=sum(files))

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Inverse of ``render(exact=True)``. Raises ReportError; accepts canonical bytes only."""
        header = _HEADERS[True]
        if not data.startswith(header):
            raise ReportError(f"not a {SCHEME} manifest in exact mode")
        lines = data[len(header):].split(b"\n")
        try:
            manifest = cls(_parse_line(line) for line in lines[:-1])
        except ValueError as error:
            raise ReportError(f"malformed manifest: {error}") from error
        paths = [entry.path for entry in manifest.entries]
        proper = len(set(paths)) == len(paths) and not any(_is_improper(path) for path in paths)
        if not proper or manifest.render(exact=True) != data:
            raise ReportError("malformed manifest: not in canonical form")
        return manifest


def _is_improper(path: bytes) -> bool:
    """Whether no walk could have found such a path."""
    return b"\0" in path or not {b"", b".", b".."}.isdisjoint(path.split(b"/"))


def _lines(entries: tuple[Entry, ...]) -> tuple[list[bytes], list[bytes]]:
    """The lines of both modes: content first, then exact."""
    content, exact = [], []
    for path, kind, mode, mtime_ns, size, digest, target in entries:
        if digest is not None:
            value = digest.hex().encode()
        elif kind is Kind.FILE:
            raise ValueError(f"no digest of {printable(path)}")
        else:
            value = escape(target) or b"-"
        line = b"%b %b %d %b" % (kind.encode(), escape(path), size, value)
        content.append(line + b"\n")
        exact.append(b"%b %04o %d\n" % (line, mode, mtime_ns))
    return content, exact


def _parse_line(line: bytes) -> Entry:
    """An entry, whose size is taken from the line for a file only: rendering it again shows what was wrong."""
    kind_letter, path, size, value, mode, mtime = line.split(b" ")
    kind = Kind(kind_letter.decode("ascii"))
    if kind is Kind.FILE:
        digest = bytes.fromhex(value.decode("ascii"))
        if len(digest) != sha256().digest_size:
            raise ValueError("a digest has another length")
        return Entry(unescape(path), kind, int(mode, 8), int(mtime), int(size), digest)
    target = unescape(value) if kind is Kind.LINK else b""
    return Entry(unescape(path), kind, int(mode, 8), int(mtime), len(target), None, target)


def diff(before: Manifest, after: Manifest) -> tuple[Change, ...]:
    """What happened between two trees, sorted by path."""
    old = {entry.path: entry for entry in before.entries}
    new = {entry.path: entry for entry in after.entries}
    changes: list[Change] = []
    for path in sorted(old.keys() | new.keys()):
        was, now = old.get(path), new.get(path)
        if was is None:
            if now is not None:
                changes.append(Change("added", path, describe(now)))
        elif now is None:
            changes.append(Change("removed", path, describe(was)))
        else:
            changes += _compare(was, now)
    return tuple(changes)


def _compare(was: Entry, now: Entry) -> list[Change]:
    changes = []
    if _content(was) != _content(now) or (now.kind is Kind.FILE and now.digest is None):
        before, after = describe(was), describe(now)
        detail = f"{before}, other content" if before == after else f"{before} -> {after}"
        changes.append(Change("modified", now.path, detail))
    if was.mode != now.mode and was.kind is now.kind:
        changes.append(Change("mode", now.path, f"{was.mode:04o} -> {now.mode:04o}"))
    return changes


def _content(entry: Entry) -> tuple[Kind, int, bytes | None, bytes]:
    return entry.kind, entry.size, entry.digest, entry.target


def describe(entry: Entry) -> str:
    """An entry in a few printable words."""
    if entry.kind is Kind.FILE:
        return f"file, {entry.size} bytes" + ("" if entry.digest is not None else ", not read")
    if entry.kind is Kind.LINK:
        return f"link to {printable(entry.target[:_SHOWN_TARGET])}"
    return _WORDS[entry.kind]
