"""The evidence as an in-toto Statement v1 with the test-result predicate v0.1
(``https://in-toto.io/attestation/test-result/v0.1``).

The predicate knows three results. ``PASSED``: every run matched. ``WARNED``: likewise, with warnings. ``FAILED``: all
else, no verdict too, since whoever reads a result must not take that for a pass; the annotations of the evidence
among ``configuration`` have the exact word.

Of a browser session each failure is a test too. A replay that reproduces and has recorded failures that it did not
show in every run, or new ones, is ``WARNED``. So is a recording that found failures; one that found none has
``PASSED``.
"""

from __future__ import annotations

from typing import Any

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.events import canonical
from runner.evidence.load_record import LoadRecord
from runner.evidence.result import Result
from runner.evidence.session_record import SessionRecord
from runner.reports.naming import file_name
from runner.reports.session_words import failure_name, undecisive
from runner.reports.words import GOOD, run_name

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
_MAX_TEXT = 1_000
_MOST_FAILURES = 500


def render_intoto(evidence: Evidence) -> str:
    """Canonical JSON, one line. Its subjects always have the same names: ``payload``, ``report``, ``image``, …"""
    result = evidence.result
    statement = {"_type": STATEMENT, "subject": _subjects(result), "predicateType": PREDICATE,
                 "predicate": _predicate(result)}
    return canonical(statement).decode() + "\n"


def _subjects(result: Result) -> list[dict[str, Any]]:
    """What the runs were made of. The payload's digest is that of its manifest, ``manifest.txt``."""
    seen, (kind, driver) = result.payload_fingerprint, _driver(result)
    subjects = []
    if result.payload or driver is None:
        subjects.append(_resource("payload", seen.exact, scheme="manifest-sha256-v1", mode="exact",
                                  content=seen.content))
    subjects += _report(result)
    for name, image in (("image", result.image), (f"{kind}-image", driver.driver_image if driver else None)):
        if image is not None:
            subjects.append(_resource(name, image.used_id.removeprefix("sha256:"), name=image.name,
                                      platform=image.platform))
    return subjects


def _driver(result: Result) -> tuple[str, SessionRecord | LoadRecord | None]:
    """What drove the application, and the record that has its image and policy."""
    return ("k6", result.load) if result.load is not None else ("browser", result.session)


def _report(result: Result) -> list[dict[str, Any]]:
    """Of a load run its scenario, of a session its incident; a recording that came to nothing has none."""
    file = file_name(result.report)
    if result.load is not None:
        return [_resource("scenario", result.load.scenario_fingerprint, directory=file, scheme="manifest-sha256-v1",
                          mode="content", scenario_sha256=result.load.scenario_sha256)]
    if result.session is not None:
        return [_resource("incident", result.report_sha256, file=file)] if result.report_sha256 else []
    if result.bundle_sha256 is None:
        return [_resource("report", result.report_sha256, file=file)]
    return [_resource("report", result.report_sha256), _resource("bundle", result.bundle_sha256, file=file)]


def _predicate(result: Result) -> dict[str, Any]:
    good = result.verdict in GOOD
    passed, warned, failed = _tests(result, result.session)
    if good:
        warned, failed = [*warned, *failed], []
    if good and result.warnings:
        passed, warned = [], [*passed, *warned]
    return {
        "result": "FAILED" if not good or failed else "WARNED" if warned or result.warnings else "PASSED",
        "configuration": _configuration(result),
        "passedTests": passed, "warnedTests": warned, "failedTests": failed,
    }


def _tests(result: Result, session: SessionRecord | None) -> tuple[list[str], list[str], list[str]]:
    """Those that passed, with a warning, and not: runs, then failures of a session or assertions of a load run. New
    failures are no claim's.
    """
    passed = [run_name(sample) for sample in result.samples if sample.accepted]
    failed = [run_name(sample) for sample in result.samples if not sample.accepted]
    warned: list[str] = []
    if session is not None:
        light = undecisive(session)
        for failure in session.failures[:_MOST_FAILURES]:
            rest = warned if failure.id in light else failed
            kept = {"reproduced": passed, "new": warned, "recorded": warned}.get(failure.state, rest)
            kept.append(printable(failure_name(failure)))
    for row in (result.assertions or ())[:_MOST_FAILURES]:
        (passed if row.status == "pass" else failed).append(printable(f"assertion {row.id}"))
    return passed, warned, failed


def _configuration(result: Result) -> list[dict[str, Any]]:
    kind, driver = _driver(result)
    found = [_resource("policy", result.policy.sha256, name=result.policy.name)]
    if driver is not None:
        found.append(_resource(f"{kind}-policy", driver.driver_policy.sha256, name=driver.driver_policy.name))
    if result.report_sha256 and result.load is None:
        found.append(_resource("report", result.report_sha256))
    found.append(_resource("evidence", result.core_sha256(), runId=result.run_id, verdict=result.verdict,
                           tool=" ".join(map(str, result.tool.values())), finished=result.finished,
                           eventsHead=result.events.head if result.events else ""))
    return found


def _resource(name: str, digest: str, /, **annotations: str) -> dict[str, Any]:
    """A ResourceDescriptor; ``annotations`` are free text, bounded and printable."""
    resource: dict[str, Any] = {"name": name, "digest": {"sha256": printable(digest[:_MAX_TEXT])}}
    if annotations:
        resource["annotations"] = {key: printable(value[:_MAX_TEXT]) for key, value in annotations.items()}
    return resource
