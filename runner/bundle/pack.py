"""Packing: report and payload, proved to belong together, into one file, the same bytes each time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import BinaryIO

import zstandard

from runner.bundle.document import describe_bundle
from runner.bundle.layout import (
    DOCUMENT,
    LEVEL,
    MAX_TEXT_BYTES,
    PAYLOAD_DIRECTORY,
    PREFIX,
    REPORT,
    most_expanded,
    own_file,
)
from runner.bundle.proof import check_provable, match_payload
from runner.bundle.rules import named, refused
from runner.evidence.files import written_atomically
from runner.payload.seal import SealedPayload
from runner.payload.tar import encode_header, padding
from runner.sources.load import parse_report

_FILE_MODE = 0o644


def pack(report: bytes, sealed: SealedPayload, path: str | os.PathLike[str], *, report_path: str) -> int:
    """Write the bundle to ``path``, whole or not at all, and tell its size in bytes. ``report_path`` is only told.

    Raises ReportError for a report that is of no known format, PayloadMismatch when it is not about this payload,
    BundleRefused for a pair that no reader would take, PayloadChanged, UsageError, SetupError.
    """
    recorded = parse_report(report, path=report_path).payload
    with named(report_path):
        check_provable(recorded)
    match_payload(recorded, sealed)
    with named(os.fspath(path)), written_atomically(path, _FILE_MODE) as file:
        return _compress(_stream(report, sealed), file)


def _stream(report: bytes, sealed: SealedPayload) -> Iterator[bytes]:
    text = sum(len(entry.path) + len(entry.target) for entry in sealed.manifest.entries)
    if text > MAX_TEXT_BYTES:
        raise refused("too_much_text", f"{text} bytes", path=b"")
    for name, data in ((DOCUMENT, describe_bundle(report, sealed.fingerprint).render()), (REPORT, report)):
        yield encode_header(own_file(name, len(data))) + data + padding(len(data))
    yield encode_header(PAYLOAD_DIRECTORY)
    with closing(sealed.stream(PREFIX)) as chunks:
        yield from chunks


def _compress(stream: Iterator[bytes], file: BinaryIO) -> int:
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=False).compressobj()
    expanded = 0
    with ThreadPoolExecutor(max_workers=1) as beside:  # one chunk is compressed while the next is read and hashed
        waiting = beside.submit(bytes)
        for chunk in stream:
            expanded += len(chunk)
            file.write(waiting.result())
            waiting = beside.submit(compressor.compress, chunk)
        file.write(waiting.result())
    file.write(compressor.flush())
    if expanded > most_expanded(file.tell()):
        raise refused("ratio", f"{expanded} bytes in {file.tell()}")
    return file.tell()
