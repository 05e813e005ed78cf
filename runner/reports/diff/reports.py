"""What two reports claim differently."""

from __future__ import annotations

from typing import Any

from runner.reports.claims.content import claims_of
from runner.reports.diff.fields import differing
from runner.sources.load import ParsedReport

SCHEMA = "runner.diff/1"
_FILE = ("path", "sha256")


def diff_reports(a: ParsedReport, b: ParsedReport) -> dict[str, Any]:
    """The difference as plain values; where the files lie, and their digests, are told and not compared."""
    ours, theirs = claims_of(a), claims_of(b)
    sections = {}
    for name in ours:
        left, right = dict(ours[name] or {}), dict(theirs[name] or {})
        if name == "report":
            left, right = ({key: value for key, value in side.items() if key not in _FILE} for side in (left, right))
        sections[name] = differing(left, right)
    different = [name for name, rows in sections.items() if rows]
    return {"schema": SCHEMA, "kind": "reports", "a": _side(a), "b": _side(b), "same": not different,
            "different": different, "sections": sections}


def _side(report: ParsedReport) -> dict[str, str]:
    return {"report": report.path, "sha256": report.sha256}
