"""What the format fixes: names, compression, caps. See ``docs/bundles.md``."""

from __future__ import annotations

from runner.payload.tree import Entry, Kind, SealLimits
from runner.sources.reading import MAX_REPORT_BYTES

MAGIC = b"\x28\xb5\x2f\xfd"
SUFFIX = ".repro"
LEVEL = 3
MAX_WINDOW = 8 << 20
MAX_BLOCK = 128 << 10
"""Bytes of a zstd block, compressed or not. Source: RFC 8878, section 3.1.1.2."""

DOCUMENT, REPORT, PAYLOAD = b"repro.json", b"report.json", b"payload"
PREFIX = PAYLOAD + b"/"
MAX_DOCUMENT_BYTES = 4096
MAX_TEXT_BYTES = 64 << 20
"""Sum over all paths and link targets, as for a walk."""

FREE_BYTES, MAX_RATIO = 64 << 20, 200
MIN_BLOCK_BYTES, FREE_BLOCKS = 1024, 64
"""Blocks hold this many bytes on average, but for a few: so empty ones cannot keep a reader busy."""

_EPOCH_NS = 315_532_800 * 10**9
"""1980-01-01, the time of the entries that are ours."""
_ENTRY_BYTES = 4 * 512


def own_file(name: bytes, size: int) -> Entry:
    """The entry of ``repro.json`` or ``report.json``."""
    return Entry(name, Kind.FILE, 0o644, _EPOCH_NS, size)


PAYLOAD_DIRECTORY = Entry(PAYLOAD, Kind.DIR, 0o755, _EPOCH_NS)


def largest_stream(limits: SealLimits) -> int:
    """Bytes of the longest tar stream that keeps a policy's caps."""
    return (MAX_DOCUMENT_BYTES + MAX_REPORT_BYTES + limits.bytes + (limits.files + 8) * _ENTRY_BYTES
            + 2 * MAX_TEXT_BYTES)


def largest_file(limits: SealLimits) -> int:
    """Bytes of the largest bundle: zstd adds a little to what it cannot compress."""
    return largest_stream(limits) + (largest_stream(limits) >> 8)


def most_expanded(file_bytes: int) -> int:
    """Bytes to which a file of that size may expand."""
    return max(FREE_BYTES, MAX_RATIO * file_bytes)
