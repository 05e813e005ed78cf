"""The files that ``runner report`` is given: reports, bundles, run directories."""

from __future__ import annotations

import os
from typing import Any

from runner.bundle.load import read_report_or_bundle
from runner.bundle.proof import match_payload
from runner.bundle.read import read_bundle
from runner.cli.session_files import is_recorded, read_recorded
from runner.errors import ReportError, UsageError, printable
from runner.evidence.check import open_evidence
from runner.evidence.database import store_root
from runner.evidence.index import find_run
from runner.incidents.places import INCIDENT_FILE
from runner.payload.seal import DEFAULT_LIMITS, seal
from runner.reports.claims.content import Claims, claims_of
from runner.reports.claims.session import session_claims
from runner.reports.diff.reports import diff_claims
from runner.reports.diff.runs import diff_runs
from runner.sources.fingerprints import FingerprintMatch
from runner.sources.load import ParsedReport, parse_report


def read_file(path: str) -> ParsedReport:
    """A report, be it in a file of its own or in a bundle. Raises ReportError, BundleRefused."""
    if is_recorded(path):
        raise ReportError(f"{printable(path)}: a recorded browser session, which has no counts to compare",
                          hint="`runner report diff` compares two of them")
    return _read(path)


def claims_in(path: str) -> Claims:
    """What a report or a recorded session claims. Raises ReportError, BundleRefused, UsageError."""
    return session_claims(read_recorded(path)) if is_recorded(path) else claims_of(_read(path))


def _read(path: str) -> ParsedReport:
    file = read_report_or_bundle(path)
    return parse_report(file.raw, path=path)


def check_file(path: str, payload: str | None) -> tuple[ParsedReport, FingerprintMatch | None, str | None]:
    """A report, how far its payload is proved, and what is the payload: a directory, or the bundle itself.

    Raises InputError for whatever is not as it must be.
    """
    file = read_report_or_bundle(path)
    if file.bundle is None:
        report = parse_report(file.raw, path=path)
        match = None if payload is None else match_payload(report.payload, seal(payload, DEFAULT_LIMITS))
        return report, match, payload
    if payload is not None:
        raise UsageError(f"{printable(path)}: a bundle brings its own payload", hint="leave --payload out")
    bundle = read_bundle(path, DEFAULT_LIMITS)
    report = parse_report(bundle.head.report, path=path)
    return report, match_payload(report.payload, bundle.sealed), path


def diff_files(a: str, b: str) -> dict[str, Any]:
    """What differs between two reports, or between two runs. Raises UsageError for one of each."""
    files = [os.path.isfile(os.path.expanduser(name)) for name in (a, b)]
    recorded = [file or _is_foreign(name) for file, name in zip(files, (a, b), strict=True)]
    if all(recorded):
        ours, theirs = claims_in(a), claims_in(b)
        if ours.keys() != theirs.keys():
            raise UsageError("one of the two is a browser session, the other is none", hint="compare two of a kind")
        return diff_claims(ours, theirs)
    if any(recorded):
        report, run = (a, b) if recorded[0] else (b, a)
        raise UsageError(f"{printable(report)} is a report and {printable(run)} is none",
                         hint="compare two reports, or two runs")
    store = store_root()
    return diff_runs(*(open_evidence(find_run(name, store)) for name in (a, b)))


def _is_foreign(name: str) -> bool:
    """Whether it is a directory with an incident and no evidence: LOKI's."""
    place = os.path.expanduser(name)
    return (os.path.isfile(os.path.join(place, INCIDENT_FILE))
            and not os.path.lexists(os.path.join(place, "result.json")))
