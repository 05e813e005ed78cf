"""ReproMin's two tree digests, ``tree-sha256-v2`` and ``tree-content-sha256-v1``, in one pass over the files.

Both are a SHA-256 over one stream of tagged fields: an ASCII tag, the length in 8 bytes big-endian, the value.
The root comes first, then every entry in the order of its raw path bytes. The exact stream also has modes,
times and extended attributes. Content passes through both digests; one runs in a thread of its own.
"""

from __future__ import annotations

import errno
import os
from contextlib import closing
from hashlib import sha256
from queue import Queue
from threading import Thread
from typing import NamedTuple, Self

from runner.errors import PayloadRefused
from runner.payload.access import Descent, open_file
from runner.payload.chunks import ExactReader
from runner.payload.hashing import prove_same
from runner.payload.rules import MESSAGES
from runner.payload.seal import DEFAULT_LIMITS, PayloadPath, SealLimits, opened, root_path, scan
from runner.payload.sealed import SealedPayload
from runner.payload.tar import BLOCK, read_header
from runner.payload.tree import Found, Kind, changed, unreadable

EXACT_POLICY = "tree-sha256-v2"
CONTENT_POLICY = "tree-content-sha256-v1"

_EXACT_PREFIX = b"repomin-tree-fingerprint\0tree-sha256-v2\0"
_CONTENT_PREFIX = b"repomin-tree-content-fingerprint\0tree-content-sha256-v1\0"
_KIND_NAMES = {Kind.DIR: b"directory", Kind.FILE: b"regular-file", Kind.LINK: b"symlink"}
_BATCH = 1 << 20
_NO_FLAGS = b"G" + bytes(8) + b"W" + bytes(8)
"""BSD flags and Windows attributes: both empty on Linux."""


class TreeHashes(NamedTuple):
    """``exact`` is tree-sha256-v2, ``content`` is tree-content-sha256-v1; lowercase hex.

    ``exact`` is ``None`` for a payload in a bundle, which has no root directory and no extended attributes.
    """

    exact: str | None
    content: str


def tree_hashes(path: PayloadPath, limits: SealLimits = DEFAULT_LIMITS) -> TreeHashes:
    """Both digests of a directory. Raises PayloadRefused for what sealing refuses, and PayloadChanged."""
    with opened(root_path(path)) as root_fd, _Digests() as digests:
        found = scan(root_fd, limits)
        digests.both(_EXACT_PREFIX, _CONTENT_PREFIX)
        digests.both(*[_field(b"N", (len(found) + 1).to_bytes(8, "big"))] * 2)
        status = os.fstat(root_fd)
        root = Found(b"", Kind.DIR, status.st_mode & 0o7777, status.st_mtime_ns, 0, b"", 0, 0, 0)
        _open_entry(digests, root, _xattrs(root_fd))
        digests.both(*[_field(b"C", b"") + b"Z"] * 2)
        with Descent(root_fd) as place:
            for item in found:
                _add(digests, place, item)
        digests.both(b"X", b"X")
    return digests.result()


def sealed_tree_hashes(sealed: SealedPayload) -> TreeHashes:
    """The digests of a sealed payload, wherever it lies. Raises as :func:`tree_hashes`."""
    if sealed.source.file_sha256 is None:
        return tree_hashes(sealed.path, sealed.limits)
    digest = sha256(_CONTENT_PREFIX + _field(b"N", (len(sealed.manifest.entries) + 1).to_bytes(8, "big")))
    digest.update(_content_head(b"", Kind.DIR) + _field(b"C", b"") + b"Z")
    with closing(sealed.stream()) as chunks:
        read = ExactReader(chunks)
        while (entry := read_header(read)) is not None:
            digest.update(_content_head(entry.path, entry.kind))
            if entry.kind is not Kind.FILE:
                digest.update(_field(b"C", entry.target) + b"Z")
                continue
            digest.update(b"C" + entry.size.to_bytes(8, "big"))
            for start in range(0, entry.size, _BATCH):
                digest.update(read(min(_BATCH, entry.size - start)))
            digest.update(b"Z")
            read(-entry.size % BLOCK)
    digest.update(b"X")
    return TreeHashes(None, digest.hexdigest())


class _Digests:
    """Two SHA-256 streams: exact in this thread, content in another, both fed by batches."""

    def __init__(self) -> None:
        self._exact, self._content = sha256(), sha256()
        self._parts: tuple[list[bytes], list[bytes]] = ([], [])
        self._size = 0
        self._queue: Queue[list[bytes] | None] = Queue(maxsize=4)
        self._thread = Thread(target=self._consume, name="treehash")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
        self._queue.put(None)
        self._thread.join()

    def both(self, exact: bytes, content: bytes) -> None:
        """Append to each stream."""
        self._parts[0].append(exact)
        self._parts[1].append(content)
        self._size += len(exact)
        if self._size >= _BATCH:
            self._flush()

    def result(self) -> TreeHashes:
        """Both, once everything was appended and the ``with`` is over."""
        return TreeHashes(self._exact.hexdigest(), self._content.hexdigest())

    def _flush(self) -> None:
        exact, content = self._parts
        self._queue.put(content)
        self._exact.update(b"".join(exact))
        self._parts, self._size = ([], []), 0

    def _consume(self) -> None:
        while (parts := self._queue.get()) is not None:
            self._content.update(b"".join(parts))


def _field(tag: bytes, value: bytes) -> bytes:
    return tag + len(value).to_bytes(8, "big") + value


def _open_entry(digests: _Digests, item: Found, xattrs: bytes) -> None:
    """Everything of an entry up to its content."""
    kind = _field(b"T", _KIND_NAMES[item.kind])
    mode, mtime = item.mode.to_bytes(2, "big"), item.mtime_ns.to_bytes(8, "big", signed=True)
    metadata = _field(b"M", mode) + _field(b"Y", mtime) + _NO_FLAGS
    digests.both(b"E" + _field(b"P", item.path) + metadata + kind + xattrs, _content_head(item.path, item.kind))


def _content_head(path: bytes, kind: Kind) -> bytes:
    return b"E" + _field(b"P", path) + _field(b"T", _KIND_NAMES[kind])


def _add(digests: _Digests, place: Descent, item: Found) -> None:
    try:
        dir_fd, name = place.at(item.path)
        if item.kind is Kind.LINK:
            _open_entry(digests, item, _xattrs(b"/proc/self/fd/%d/%b" % (dir_fd, name)))
            digests.both(*[_field(b"C", item.target) + b"Z"] * 2)
            return
        fd = open_file(name, dir_fd)
    except OSError as error:
        problem = unreadable(item.path, error)
        raise PayloadRefused(f"payload entry {problem.path!r} {MESSAGES[problem.rule]} ({problem.detail})",
                             rule=problem.rule, path=item.path) from error
    try:
        _open_entry(digests, item, _xattrs(fd))
        if item.kind is Kind.FILE:
            _add_content(digests, fd, item)
        else:
            digests.both(*[_field(b"C", b"") + b"Z"] * 2)
    finally:
        os.close(fd)


def _add_content(digests: _Digests, fd: int, item: Found) -> None:
    head = b"C" + item.size.to_bytes(8, "big")
    digests.both(head, head)
    total = 0
    while total < item.size and (data := os.read(fd, min(item.size - total, _BATCH))):
        digests.both(data, data)
        total += len(data)
    prove_same(fd, item, total)
    digests.both(b"Z", b"Z")


def _xattrs(target: int | bytes) -> bytes:
    """The ``A`` field and a ``K`` and a ``V`` for each attribute; none where the file system has none."""
    follow = not isinstance(target, bytes)
    try:
        names = sorted(os.fsencode(name) for name in os.listxattr(target, follow_symlinks=follow))
        pairs = [(name, os.getxattr(target, name, follow_symlinks=follow)) for name in names]
    except OSError as error:
        if error.errno == errno.ENODATA:
            raise changed(b"", "an extended attribute vanished") from error
        if error.errno not in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
            raise
        pairs = []
    count = _field(b"A", len(pairs).to_bytes(8, "big"))
    return count + b"".join(_field(b"K", name) + _field(b"V", value) for name, value in pairs)
