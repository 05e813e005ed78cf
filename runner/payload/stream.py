"""A sealed tree as a canonical tar stream; every file proves on the way that it is still what was sealed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256

from runner.payload.access import Descent, open_file
from runner.payload.fingerprint import Manifest
from runner.payload.hashing import BUFFER
from runner.payload.tar import END, encode_header, padding
from runner.payload.tree import Entry, Kind, changed

Chunk = bytes


def tar_stream(root_fd: int, manifest: Manifest, prefix: bytes = b"") -> Iterator[Chunk]:
    """Chunks of about 256 KiB; every path stands behind ``prefix``.

    Raises PayloadChanged, before the end, for a file that is not as recorded.
    """
    return gathered(_parts(root_fd, manifest, prefix))


def gathered(parts: Iterable[bytes]) -> Iterator[Chunk]:
    """The same bytes in chunks of about 256 KiB: few are large enough to be worth a frame of their own."""
    waiting: list[bytes] = []
    size = 0
    for part in parts:
        waiting.append(part)
        size += len(part)
        if size >= BUFFER:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _parts(root_fd: int, manifest: Manifest, prefix: bytes) -> Iterator[bytes]:
    with Descent(root_fd) as place:
        for entry in manifest.entries:
            yield encode_header(entry._replace(path=prefix + entry.path) if prefix else entry)
            if entry.kind is Kind.FILE:
                yield from _content(place, entry)
    yield END


def _content(place: Descent, entry: Entry) -> Iterator[bytes]:
    try:
        dir_fd, name = place.at(entry.path)
        fd = open_file(name, dir_fd)
    except OSError as error:
        raise changed(entry.path, error.strerror) from error
    try:
        digest, left = sha256(), entry.size
        while left:
            data = os.read(fd, min(left, BUFFER))
            if not data:
                break
            left -= len(data)
            digest.update(data)
            yield data
        if left or digest.digest() != entry.digest or os.read(fd, 1):
            raise changed(entry.path, "it is not what was sealed")
    finally:
        os.close(fd)
    yield padding(entry.size)
