"""The files that ``runner report`` is given: reports, bundles, run directories."""

from __future__ import annotations

import os
from typing import Any

from runner.controller.check_report import check_against_payload
from runner.errors import UsageError, printable
from runner.evidence.check import open_evidence
from runner.evidence.database import store_root
from runner.evidence.index import find_run
from runner.reports.diff.reports import diff_reports
from runner.reports.diff.runs import diff_runs
from runner.sources.fingerprints import FingerprintMatch
from runner.sources.load import ParsedReport, load_report


def read_file(path: str) -> ParsedReport:
    """A report. Raises ReportError."""
    return load_report(path)


def check_file(path: str, payload: str | None) -> tuple[ParsedReport, FingerprintMatch | None, str | None]:
    """A report, how far its payload is proved, and what is the payload. Raises InputError."""
    report = load_report(path)
    return report, None if payload is None else check_against_payload(report, payload), payload


def diff_files(a: str, b: str) -> dict[str, Any]:
    """What differs between two reports, or between two runs. Raises UsageError for one of each."""
    files = [os.path.isfile(os.path.expanduser(name)) for name in (a, b)]
    if all(files):
        return diff_reports(read_file(a), read_file(b))
    if any(files):
        report, run = (a, b) if files[0] else (b, a)
        raise UsageError(f"{printable(report)} is a report and {printable(run)} is none",
                         hint="compare two reports, or two runs")
    store = store_root()
    return diff_runs(*(open_evidence(find_run(name, store)) for name in (a, b)))
