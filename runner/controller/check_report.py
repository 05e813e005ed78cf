"""A report against a payload, without running anything."""

from __future__ import annotations

from runner.payload.seal import DEFAULT_LIMITS, SealLimits, seal
from runner.payload.treehash import tree_hashes
from runner.sources.fingerprints import FingerprintMatch, check_recorded
from runner.sources.load import ParsedReport


def check_against_payload(report: ParsedReport, payload: str, limits: SealLimits = DEFAULT_LIMITS,
                          ) -> FingerprintMatch:
    """Walk, fingerprint and count the payload as a replay would, and compare with the report.

    Raises PayloadRefused, PayloadChanged, PayloadMismatch.
    """
    sealed = seal(payload, limits)
    tree = tree_hashes(sealed.path, limits) if report.payload.scheme == "tree-sha256" else None
    return check_recorded(report.payload, sealed.fingerprint, tree, sealed.files, sealed.bytes)
