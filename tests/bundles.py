"""Bundles for tests: good ones by our packer, hostile ones byte by byte, by other people's libraries."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from pathlib import Path

import zstandard

from runner.bundle.document import describe_bundle
from runner.bundle.layout import DOCUMENT, PAYLOAD_DIRECTORY, PREFIX, REPORT, own_file
from runner.bundle.pack import pack
from runner.case import RecordedEnvironment, RecordedExecution
from runner.oracles.contract import Contract
from runner.payload.fingerprint import Fingerprint, Manifest
from runner.payload.seal import DEFAULT_LIMITS, SealedPayload, seal
from runner.payload.tar import END, encode_header, padding
from runner.payload.tree import Entry, Kind
from runner.sources.draft import Baseline, RecordedTree, ReportDraft
from runner.sources.environment import environment_sha256
from runner.sources.modes import modes_of
from runner.sources.native.write import write_native
from runner.workloads.command import CommandWorkload

NOBODYS = Fingerprint("a1" * 32, "b2" * 32, 3, 2, 1)
"""A fingerprint of no payload, for bundles that are refused before it matters."""


def report_of(sealed: SealedPayload, command: str = "sh fail.sh") -> bytes:
    """A native report about a payload, as a host recording would write it."""
    seen = sealed.fingerprint
    return write_native(ReportDraft(
        created="2026-01-01T00:00:00Z", tool_version="0.1.0", workload=CommandWorkload(shell=command),
        contract=Contract(7, "LEDGER_MISMATCH", None),
        payload=RecordedTree("ledger", seen.files, seen.bytes, seen.entries, seen.exact, seen.content,
                             modes=modes_of(sealed.manifest)),
        environment=RecordedEnvironment((), environment_sha256(())),
        execution=RecordedExecution("host", None, "none", 20.0, "default", "09" * 32), baseline=Baseline(3, 3, 7)))


def packed(root: Path, path: Path) -> SealedPayload:
    """Pack a directory with a report about it; returns what was sealed."""
    sealed = seal(root, DEFAULT_LIMITS)
    pack(report_of(sealed), sealed, path, report_path="report.json")
    return sealed


def zstd(data: bytes, level: int = 3) -> bytes:
    """One frame as the format wants it."""
    return zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=False).compress(data)


def member(entry: Entry, data: bytes = b"") -> bytes:
    """A canonical entry with its content."""
    return encode_header(entry) + data + (padding(len(data)) if entry.kind is Kind.FILE else b"")


def file(path: bytes, data: bytes = b"", mode: int = 0o644) -> bytes:
    """A regular file, in canonical form whatever the path says."""
    return member(Entry(path, Kind.FILE, mode, 0, len(data)), data)


def link(path: bytes, target: bytes) -> bytes:
    """A symbolic link, in canonical form whatever it leads to."""
    return member(Entry(path, Kind.LINK, 0o777, 0, len(target), None, target))


def directory(path: bytes) -> bytes:
    """A directory."""
    return member(Entry(path, Kind.DIR, 0o755, 0))


def head(report: bytes = b"{}", payload: Fingerprint = NOBODYS) -> bytes:
    """Everything before the payload's entries."""
    document = describe_bundle(report, payload).render()
    return (member(own_file(DOCUMENT, len(document)), document) + member(own_file(REPORT, len(report)), report)
            + encode_header(PAYLOAD_DIRECTORY))


def bundle(*members: bytes) -> bytes:
    """A bundle with these entries, whose own digests are never reached."""
    return zstd(head() + b"".join(members) + END)


def true_bundle(entries: Iterable[Entry], members: bytes, report: bytes = b"{}") -> bytes:
    """A bundle whose repro.json is right about these entries."""
    return zstd(head(report, Manifest(entries).fingerprint()) + members + END)


def foreign(*infos: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT, data: bytes = b"") -> bytes:
    """Entries as Python's tarfile writes them, without the end of the archive."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for info in infos:
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
        size = archive.offset
    return stream.getvalue()[:size]


def foreign_info(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", **pax: str) -> tarfile.TarInfo:
    """An entry below payload/ for :func:`foreign`."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.pax_headers = kind, target, pax
    return info


def below(name: str) -> bytes:
    """A path in the payload's part."""
    return PREFIX + name.encode()
