"""One row for each declared assertion: does what was observed, or do the samples of all journeys, hold?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from runner.errors import printable
from runner.load.outcome import LoadOutcome
from runner.oracles.load.model import AssertionRow, Event, Events, Status
from runner.scenarios.model import Scenario

SHOWN_FAILURES = 3
_SHOWN_FIELDS = ("sequence", "logical_key", "expected", "actual", "detail")
UNREACHABLE = "no request got any HTTP answer"


def assertion_rows(scenario: Scenario, outcome: LoadOutcome, events: Events, *,
                   unreachable: bool) -> tuple[AssertionRow, ...]:
    """In the manifest's order. An assertion that is observed has the observation's status, whatever scripts say of it.
    Where nothing could be reached nothing can have failed either: failing rows are unknown then.
    """
    observed = {observation.assertion for observation in scenario.observations}
    documents = {document.get("assertion"): document for document in outcome.observations}
    samples: dict[str, list[Event]] = {}
    for event in events.events:
        if event.type == "assertion":
            samples.setdefault(event.name, []).append(event)
    # An ID that is declared twice is one assertion.
    rows = [_observed(name, documents.get(name)) if name in observed
            else _sampled(name, samples.get(name, ()), scenario.planned_journeys)
            for name in dict.fromkeys(scenario.assertions)]
    if unreachable:
        rows = [replace(row, status="unknown", reason=UNREACHABLE) if row.status == "fail" else row for row in rows]
    return tuple(rows)


def _observed(name: str, document: dict[str, Any] | None) -> AssertionRow:
    if document is None:
        return AssertionRow(name, "unknown", reason="not observed")
    status: Status = document["status"] if document.get("status") in get_args(Status) else "unknown"
    reason = document.get("reason") or _observation_reason(status, document)
    return AssertionRow(name, status, 1 if status != "unknown" else 0, expected=document.get("expected"),
                        actual=document.get("actual"), reason=printable(str(reason)[:500]))


def _observation_reason(status: Status, document: dict[str, Any]) -> str:
    checks = document.get("checks")
    wrong = [f"{pointer or 'the document'}" for pointer, check in checks.items()
             if not (isinstance(check, dict) and check.get("pass"))] if isinstance(checks, dict) else []
    if status == "fail":
        return f"the final state differs at {', '.join(wrong[:5])}" if wrong else "the final state differs"
    return "could not be observed" if status == "unknown" else ""


def _sampled(name: str, samples: Sequence[Event], planned: int) -> AssertionRow:
    failing = [event for event in samples if not event.passed]
    keys = Counter(event.logical_key for event in samples)
    keyless = keys.pop(None, 0)
    twice = sum(count > 1 for count in keys.values())
    if not samples:
        return AssertionRow(name, "unknown", reason="missing: no sample")
    if failing:
        shown = tuple({field: event.document[field] for field in _SHOWN_FIELDS if field in event.document}
                      for event in failing[:SHOWN_FAILURES])
        return AssertionRow(name, "fail", len(samples), shown, failing[0].document.get("expected"),
                            failing[0].document.get("actual"), f"{len(failing)} of {len(samples)} samples failed")
    reason = (f"{keyless} samples have no logical_key" if keyless
              else f"{twice} keys occur more than once" if twice
              else f"partial: {len(samples)} samples of {planned} planned journeys" if len(samples) != planned else "")
    return AssertionRow(name, "unknown" if reason else "pass", len(samples), reason=reason)
