"""A payload that stays in its bundle: decompressed and proved anew each time it is asked for."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from hashlib import sha256

from runner.bundle.entries import next_entry
from runner.bundle.frame import Frame
from runner.bundle.layout import DOCUMENT, PAYLOAD_DIRECTORY, PREFIX, REPORT
from runner.errors import BundleRefused, PayloadChanged, ReportError, printable
from runner.payload.fingerprint import Manifest
from runner.payload.hashing import BUFFER
from runner.payload.stream import Chunk, gathered
from runner.payload.tar import END, encode_header, padding
from runner.payload.tree import Entry, Kind, SealLimits
from runner.sources.reading import open_report


class BundleSource:
    """``path`` is the bundle as it was named, ``file_sha256`` the digest that it had when it was read."""

    def __init__(self, path: bytes, file_sha256: str) -> None:
        self.path = path
        self.file_sha256: str | None = file_sha256

    def stream(self, manifest: Manifest, prefix: bytes) -> Generator[Chunk]:
        """Read the bundle anew; the end of the stream comes only when the whole file is what it was."""
        try:
            with open_report(os.fsdecode(self.path)) as file:
                size = os.fstat(file.fileno()).st_size
                yield from gathered(self._parts(Frame(file, size, largest=1 << 62), manifest, prefix))
        except (BundleRefused, ReportError, OSError) as error:
            raise self._changed(str(error)) from error

    def _parts(self, frame: Frame, manifest: Manifest, prefix: bytes) -> Iterator[bytes]:
        self._skip_head(frame)
        for entry in manifest.entries:
            header = encode_header(entry._replace(path=PREFIX + entry.path))
            if frame.read(len(header)) != header:  # there is one way to write it, so nothing need be parsed again
                raise self._changed(f"at {printable(entry.path)}")
            yield header if prefix == PREFIX else encode_header(entry._replace(path=prefix + entry.path))
            if entry.kind is Kind.FILE:
                yield from self._content(frame, entry)
        if frame.read(len(END)) != END or frame.finish() != self.file_sha256:
            raise self._changed("another digest")
        yield END

    def _skip_head(self, frame: Frame) -> None:
        for name in (DOCUMENT, REPORT, PAYLOAD_DIRECTORY.path):
            entry = next_entry(frame)
            if entry is None or entry.path != name:
                raise self._changed("its head")
            for _ in frame.pieces(entry.size):
                pass  # that it is the same, the digest of the file tells

    def _content(self, frame: Frame, entry: Entry) -> Iterator[bytes]:
        digest = sha256()
        for data in frame.pieces(entry.size):
            digest.update(data)
            yield data
        if digest.digest() != entry.digest:
            raise self._changed(f"at {printable(entry.path)}")
        yield padding(entry.size)

    def check_unchanged(self, manifest: Manifest, limits: SealLimits) -> None:  # noqa: ARG002 - a digest says it all
        """The file must still have its digest."""
        digest = sha256()
        try:
            with open_report(os.fsdecode(self.path)) as file:
                while data := file.read(BUFFER):
                    digest.update(data)
        except (ReportError, OSError) as error:
            raise self._changed(str(error)) from error
        if digest.hexdigest() != self.file_sha256:
            raise self._changed("another digest")

    def _changed(self, why: str) -> PayloadChanged:
        return PayloadChanged(f"the bundle {printable(self.path)} changed since it was read ({why})",
                              hint="nothing may write to the bundle while it is used")
