"""A browser session's failures as SARIF results: one for each, by a rule for its kind, at the page where it was seen.

A failure that is there is an error or a warning, one that is gone has passed, of one that nobody can say to be gone
the result is open. Verdicts and runs have the rules that all replays have; a session that reproduces needs no more
than its failures.
"""

from __future__ import annotations

from typing import Any

from runner.evidence.check import Evidence
from runner.evidence.result import Result
from runner.evidence.session_record import FailureVerdict, SessionRecord
from runner.reports.sarif_rules import KINDS, OTHER_KIND, RULES
from runner.reports.sarif_text import digest, literal, text
from runner.reports.session_words import failure_text
from runner.reports.sightings import Sighting, page_of, sightings

_MOST = 500
_THERE = frozenset({"reproduced", "partly", "recorded", "new"})


def failure_results(evidence: Evidence, session: SessionRecord) -> list[dict[str, Any]]:
    """At most 500. Raises EvidenceAltered."""
    seen = sightings(evidence)
    page = page_of(evidence.result)
    return [_finding(evidence.result, failure, seen.get(failure.id), page) for failure in session.failures[:_MOST]]


def _finding(result: Result, failure: FailureVerdict, seen: Sighting | None, page: str | None) -> dict[str, Any]:
    rule = KINDS.get(failure.kind, OTHER_KIND)
    there = failure.state in _THERE
    kind = "fail" if there else "pass" if failure.state == "not_reproduced" else "open"
    finding: dict[str, Any] = {
        "ruleId": rule.id, "ruleIndex": RULES.index(rule), "kind": kind,
        # What may be on purpose, such as an answer of 422 to nonsense, is a warning.
        "level": "none" if not there else rule.level if failure.grave else "warning",
        "message": {"text": _message(failure, seen)},
        # By the failure alone: the same in every recording and replay in which it is seen.
        "fingerprints": {"failure/v1": digest(["failure", failure.id])},
        "partialFingerprints": {"incident/v1": digest([result.report_sha256, failure.id])},
        "properties": {"failure": text(failure.id), "state": text(failure.state), "seen": failure.seen,
                       "runs": failure.runs, "step": failure.step, "screenshot": _screenshot(result, failure)}}
    place = seen or (Sighting(page) if page is not None else None)
    return finding | ({"locations": [_location(place)]} if place is not None else {})


def _message(failure: FailureVerdict, seen: Sighting | None) -> str:
    said = f" {literal(seen.message)}." if seen is not None and seen.message else ""
    return f"{literal(failure.key)}: {literal(failure_text(failure))}.{said}"


def _screenshot(result: Result, failure: FailureVerdict) -> str | None:
    shots = (seen.screenshot for sample in result.samples if sample.session is not None
             for seen in sample.session.failures if seen.id == failure.id and seen.screenshot)
    found = next(shots, None)
    return text(found) if found else None


def _location(seen: Sighting) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": seen.url}}
    if seen.line is not None:
        physical["region"] = {"startLine": seen.line} | ({"startColumn": seen.column} if seen.column else {})
    return {"physicalLocation": physical}
