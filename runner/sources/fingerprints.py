"""Whether a payload is the one a report was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from runner.case import Case, RecordedPayload
from runner.errors import PayloadMismatch

Mode = Literal["exact", "content", "unavailable"]


class Digests(Protocol):
    """Two digests of one tree: a ``Fingerprint`` or the ``TreeHashes`` of :mod:`runner.payload`."""

    @property
    def exact(self) -> str | None:
        """Everything, with metadata; ``None`` where that cannot be known."""

    @property
    def content(self) -> str:
        """Paths, kinds and bytes."""


@dataclass(frozen=True, slots=True)
class FingerprintMatch:
    """How far the payload is proved. Field names are those of ReproMin's replay evidence.

    The two content digests are set in ``content`` mode only: metadata may have drifted then.
    """

    mode: Mode
    expected: str | None
    actual: str | None
    expected_content: str | None = None
    actual_content: str | None = None

    @property
    def metadata_drift_possible(self) -> bool:
        """Modes, times or attributes may differ from what was recorded."""
        return self.mode == "content"

    @property
    def verified(self) -> bool:
        """Whether any digest was compared."""
        return self.mode != "unavailable"


def check_payload(case: Case, native: Digests, tree: Digests | None, files: int,
                  bytes_: int) -> FingerprintMatch:
    """Compare the payload with what ``case`` records. See :func:`check_recorded`."""
    return check_recorded(case.payload, native, tree, files, bytes_)


def check_recorded(recorded: RecordedPayload, native: Digests, tree: Digests | None, files: int,
                   bytes_: int) -> FingerprintMatch:
    """Compare the payload with what a report records of it, under the scheme that the report names.

    ``tree`` holds ReproMin's pair and is needed for its reports. ``files`` and ``bytes_`` count regular
    files.
    Raises PayloadMismatch naming the digest or the count that differs.
    """
    actual = native if recorded.scheme == "manifest-sha256-v1" else tree
    if actual is None and (recorded.exact or recorded.content):
        raise ValueError("a report with ReproMin's digests needs the tree hashes of the payload")
    match = _compare(recorded, actual, _count_drift(recorded, files, bytes_))
    if (files, bytes_) != (recorded.files, recorded.bytes):
        raise PayloadMismatch(f"not the recorded payload: {_count_drift(recorded, files, bytes_)}")
    return match


def _compare(recorded: RecordedPayload, actual: Digests | None, counts: str) -> FingerprintMatch:
    exact = actual.exact if actual is not None else None
    if actual is None or (recorded.exact is None and recorded.content is None):
        return FingerprintMatch("unavailable", None, exact)
    if recorded.exact is not None and recorded.exact == exact:
        return FingerprintMatch("exact", recorded.exact, exact)
    if recorded.content is None:
        raise _differs("exact", recorded.exact, exact or "unknown", counts)
    if recorded.content != actual.content:
        raise _differs("content", recorded.content, actual.content, counts)
    return FingerprintMatch("content", recorded.exact, exact, recorded.content, actual.content)


def _differs(which: str, recorded: str | None, actual: str, counts: str) -> PayloadMismatch:
    hint = ("the report has no content digest, so even a changed time counts; restore times and modes"
            if which == "exact" else "")
    return PayloadMismatch(f"not the recorded payload: its {which} digest is {actual},"
                           f" the report has {recorded}" + (f"; {counts}" if counts else ""), hint=hint)


def _count_drift(recorded: RecordedPayload, files: int, bytes_: int) -> str:
    if (files, bytes_) == (recorded.files, recorded.bytes):
        return ""
    return (f"it has {files} files and {bytes_} bytes,"
            f" the report has {recorded.files} files and {recorded.bytes} bytes")
