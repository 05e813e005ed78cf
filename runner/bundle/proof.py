"""Whether a sealed payload, in a directory or in a bundle, is the one that a report records."""

from __future__ import annotations

from dataclasses import dataclass

from runner.bundle.read import Bundle, Head, read_bundle, read_head
from runner.bundle.rules import named, refused
from runner.case import RecordedPayload
from runner.errors import InputError
from runner.payload.seal import SealedPayload, SealLimits
from runner.payload.treehash import sealed_tree_hashes
from runner.sources.fingerprints import FingerprintMatch, check_recorded
from runner.sources.load import ParsedReport, parse_report


def match_payload(recorded: RecordedPayload, sealed: SealedPayload) -> FingerprintMatch:
    """Compare under the report's scheme. Raises PayloadMismatch, and BundleRefused as :func:`check_provable`."""
    if sealed.source.file_sha256 is not None:
        check_provable(recorded)
    tree = sealed_tree_hashes(sealed) if recorded.scheme == "tree-sha256" else None
    return check_recorded(recorded, sealed.fingerprint, tree, sealed.files, sealed.bytes)


def check_provable(recorded: RecordedPayload) -> None:
    """Whether a payload in a bundle can prove what a report records. Raises BundleRefused.

    ReproMin's exact digest covers the root's mode and time and extended attributes, which no bundle carries.
    """
    if recorded.scheme == "tree-sha256" and recorded.exact is not None and recorded.content is None:
        raise refused("exact_digest_only", "it has tree_sha256 and no tree_content_sha256")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a bundle says, and how far it is true. Without ``bundle`` and ``match`` there is a ``problem``."""

    head: Head
    report: ParsedReport
    bundle: Bundle | None = None
    match: FingerprintMatch | None = None
    problem: InputError | None = None


def inspect_bundle(path: str, limits: SealLimits) -> Inspection:
    """Read a bundle to its end and write nothing. What is wrong with its payload is told, not raised.

    Raises BundleRefused for a head that cannot be read, ReportError for a report that is none.
    """
    head = read_head(path)
    report = parse_report(head.report, path=path)
    bundle = None
    try:
        bundle = read_bundle(path, limits)
        with named(path):
            return Inspection(head, report, bundle, match_payload(report.payload, bundle.sealed))
    except InputError as error:
        return Inspection(head, report, bundle, problem=error)
