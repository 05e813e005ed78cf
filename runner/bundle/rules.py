"""The rules by which a bundle is refused, beyond those of sealing, which hold for its payload too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from runner.errors import BundleRefused, printable
from runner.payload.rules import MESSAGES

RULES = {
    "not_a_bundle": "is no .repro bundle: it does not begin with a zstd frame",
    "file_too_large": "is larger than the policy lets any bundle be",
    "frame": "is not the zstd frame that a bundle is: with a checksum, without a dictionary, within the format's sizes",
    "window": "needs more memory to decompress than the format allows",
    "corrupt": "cannot be decompressed, or is not what its checksum says",
    "truncated": "ends early",
    "trailing_bytes": "goes on after its end",
    "ratio": "expands too much for its size",
    "stream_too_large": "expands to more than the policy lets any bundle be",
    "not_canonical": "has an entry that our writer would not have written",
    "layout": "does not hold repro.json, report.json and payload/, in this order",
    "document_too_large": "has too large a repro.json",
    "document": "has a repro.json that breaks its format",
    "version": "is of another version of the format",
    "report_too_large": "has too large a report",
    "report_mismatch": "does not hold the report that its repro.json describes",
    "payload_mismatch": "does not hold the payload that its repro.json describes",
    "order": "has entries out of order, or one twice",
    "no_parent": "has an entry whose directory is not in it",
    "exact_digest_only": "would hold a report that proves its payload by metadata which a bundle does not carry",
}
"""Every rule of the format, and what breaking it means. Sealing has more, under its own names."""

_HINTS = {
    "file_too_large": "a policy with larger payload limits may take it: --policy",
    "stream_too_large": "a policy with larger payload limits may take it: --policy",
    "truncated": "fetch it again",
    "corrupt": "fetch it again",
    "exact_digest_only": "record the failure again, or keep report and payload as they are",
}


def refused(rule: str, detail: str = "", path: bytes | None = None) -> BundleRefused:
    """The error for a broken rule; ``path`` is an entry of the payload."""
    where = "" if path is None else f"payload entry {printable(path)} "
    message = RULES[rule] if rule in RULES else MESSAGES[rule]
    return BundleRefused(f"{where}{message} (rule {rule}{f'; {detail}' if detail else ''})", rule=rule,
                         hint=_HINTS.get(rule, ""))


@contextmanager
def named(path: str) -> Iterator[None]:
    """Put the file's name in front of a refusal."""
    try:
        yield
    except BundleRefused as error:
        raise BundleRefused(f"{printable(path)}: {error.message}", rule=error.rule, hint=error.hint) from None
