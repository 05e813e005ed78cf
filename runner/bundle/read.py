"""Reading a bundle as a stranger's file: in one pass, in flat memory, refusing by named rule."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256

from runner.bundle.content import read_payload
from runner.bundle.document import BundleDocument, describe_bundle, parse_document
from runner.bundle.entries import next_entry
from runner.bundle.frame import Frame
from runner.bundle.layout import (
    DOCUMENT,
    MAX_DOCUMENT_BYTES,
    PAYLOAD_DIRECTORY,
    REPORT,
    largest_file,
    largest_stream,
    own_file,
)
from runner.bundle.rules import named, refused
from runner.bundle.source import BundleSource
from runner.errors import printable
from runner.payload.seal import DEFAULT_LIMITS, SealedPayload, SealLimits
from runner.payload.writer import TreeWriter
from runner.sources.reading import MAX_REPORT_BYTES, open_report


@dataclass(frozen=True, slots=True)
class Head:
    """What stands before the payload. ``file_bytes`` is the size of the bundle's file."""

    path: str
    file_bytes: int
    document: BundleDocument
    report: bytes


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read to its end and keeps every rule. ``stream_bytes`` is its decompressed size."""

    head: Head
    sealed: SealedPayload
    stream_bytes: int


def read_head(path: str | os.PathLike[str]) -> Head:
    """Read ``repro.json`` and the report, and nothing after them. Raises BundleRefused, ReportError."""
    with opened(path, DEFAULT_LIMITS) as (frame, file_bytes):
        return _head(frame, os.fspath(path), file_bytes)


def read_bundle(path: str | os.PathLike[str], limits: SealLimits, into: TreeWriter | None = None) -> Bundle:
    """Read all of it. The payload stays in the file; its source reads it from there again.

    With ``into`` the payload is written down too as it goes by: before it is proved, so nothing may use it until
    this has returned. Raises BundleRefused, ReportError for a file that cannot be opened, and OSError from ``into``.
    """
    name = os.fspath(path)
    with opened(path, limits) as (frame, file_bytes):
        head = _head(frame, name, file_bytes)
        manifest = read_payload(frame, limits, into)
        digest = frame.finish()
        found = manifest.fingerprint()
        if describe_bundle(head.report, found) != head.document:
            raise refused("payload_mismatch", _difference(head.document, describe_bundle(head.report, found)))
        source = BundleSource(os.fsencode(name), digest)
        return Bundle(head, SealedPayload(source, manifest, limits), frame.logical_bytes)


@contextmanager
def opened(path: str | os.PathLike[str], limits: SealLimits) -> Iterator[tuple[Frame, int]]:
    """The frame in a file, and the file's size. Refusals get the file's name. Raises ReportError."""
    name = os.fspath(path)
    with open_report(path) as file, named(name):
        file_bytes = os.fstat(file.fileno()).st_size
        if file_bytes > largest_file(limits):
            raise refused("file_too_large", f"{file_bytes} bytes, at most {largest_file(limits)}")
        yield Frame(file, file_bytes, largest_stream(limits)), file_bytes


def _head(frame: Frame, path: str, file_bytes: int) -> Head:
    document = parse_document(_own(frame, DOCUMENT, MAX_DOCUMENT_BYTES, "document_too_large"))
    report = _own(frame, REPORT, MAX_REPORT_BYTES, "report_too_large")
    if (len(report), sha256(report).hexdigest()) != (document.report.bytes, document.report.sha256):
        raise refused("report_mismatch")
    if next_entry(frame) != PAYLOAD_DIRECTORY:
        raise refused("layout", "no payload/ after the report")
    return Head(path, file_bytes, document, report)


def _own(frame: Frame, name: bytes, largest: int, rule: str) -> bytes:
    entry = next_entry(frame)
    if entry is None or entry != own_file(name, entry.size):
        found = "the end" if entry is None else printable(entry.path[:80])
        raise refused("layout", f"{found}, expected {name.decode()} with mode and time of the format")
    if entry.size > largest:
        raise refused(rule, f"{entry.size} bytes, at most {largest}")
    return b"".join(frame.pieces(entry.size))


def _difference(told: BundleDocument, found: BundleDocument) -> str:
    was, now = told.payload, found.payload
    if (was.entries, was.files, was.bytes) != (now.entries, now.files, now.bytes):
        return (f"{now.entries} entries, {now.files} files, {now.bytes} bytes;"
                f" told are {was.entries}, {was.files}, {was.bytes}")
    return f"its exact digest is {now.fingerprint.exact}, told is {was.fingerprint.exact}"
