"""What two reports claim differently."""

from __future__ import annotations

from typing import Any

from runner.reports.claims.content import Claims
from runner.reports.diff.fields import differing

SCHEMA = "runner.diff/1"
_FILE = ("path", "sha256")


def diff_claims(ours: Claims, theirs: Claims) -> dict[str, Any]:
    """The difference as plain values; where the files lie, and their digests, are told and not compared."""
    sections = {}
    for name in ours:
        left, right = dict(ours[name] or {}), dict(theirs[name] or {})
        if name == "report":
            left, right = ({key: value for key, value in side.items() if key not in _FILE} for side in (left, right))
        sections[name] = differing(left, right)
    different = [name for name, rows in sections.items() if rows]
    return {"schema": SCHEMA, "kind": "reports", "a": _side(ours), "b": _side(theirs), "same": not different,
            "different": different, "sections": sections}


def _side(claims: Claims) -> dict[str, str]:
    report = claims["report"] or {}
    return {"report": str(report["path"]), "sha256": str(report["sha256"])}
