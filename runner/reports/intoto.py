"""The evidence as an in-toto Statement v1 with the test-result predicate v0.1
(``https://in-toto.io/attestation/test-result/v0.1``).

The predicate knows three results. ``PASSED``: every run matched. ``WARNED``: likewise, with warnings. ``FAILED``: all
else, no verdict too, since whoever reads a result must not take that for a pass; the annotations of the evidence
among ``configuration`` have the exact word.
"""

from __future__ import annotations

from typing import Any

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.events import canonical
from runner.evidence.result import Result
from runner.reports.words import file_name, run_name

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
_MAX_TEXT = 1_000


def render_intoto(evidence: Evidence) -> str:
    """Canonical JSON, one line. Its subjects always have the same names: ``payload``, ``report``, ``image``, …"""
    result = evidence.result
    statement = {"_type": STATEMENT, "subject": _subjects(result), "predicateType": PREDICATE,
                 "predicate": _predicate(result)}
    return canonical(statement).decode() + "\n"


def _subjects(result: Result) -> list[dict[str, Any]]:
    """What the runs were made of. The payload's digest is that of its manifest, ``manifest.txt``."""
    seen = result.payload_fingerprint
    file = file_name(result.report)
    subjects = [_resource("payload", seen.exact, scheme="manifest-sha256-v1", mode="exact", content=seen.content)]
    if result.bundle_sha256 is None:
        subjects.append(_resource("report", result.report_sha256, file=file))
    else:
        subjects += [_resource("report", result.report_sha256), _resource("bundle", result.bundle_sha256, file=file)]
    if result.image is not None:
        subjects.append(_resource("image", result.image.used_id.removeprefix("sha256:"), name=result.image.name,
                                  platform=result.image.platform))
    return subjects


def _predicate(result: Result) -> dict[str, Any]:
    reproduced = result.verdict == "reproduced"
    accepted = [run_name(sample) for sample in result.samples if sample.accepted]
    warned = reproduced and bool(result.warnings)
    return {
        "result": "FAILED" if not reproduced else "WARNED" if warned else "PASSED",
        "configuration": [
            _resource("policy", result.policy.sha256, name=result.policy.name),
            _resource("report", result.report_sha256),
            _resource("evidence", result.core_sha256(), runId=result.run_id, verdict=result.verdict,
                      tool=" ".join(map(str, result.tool.values())), finished=result.finished,
                      eventsHead=result.events.head if result.events else ""),
        ],
        "passedTests": [] if warned else accepted,
        "warnedTests": accepted if warned else [],
        "failedTests": [run_name(sample) for sample in result.samples if not sample.accepted],
    }


def _resource(name: str, digest: str, /, **annotations: str) -> dict[str, Any]:
    """A ResourceDescriptor; ``annotations`` are free text, bounded and printable."""
    resource: dict[str, Any] = {"name": name, "digest": {"sha256": printable(digest[:_MAX_TEXT])}}
    if annotations:
        resource["annotations"] = {key: printable(value[:_MAX_TEXT]) for key, value in annotations.items()}
    return resource
