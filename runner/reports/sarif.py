"""The evidence as SARIF 2.1.0 (OASIS standard, errata 01): findings for code scanning.

A reproduced failure is an error in the payload, at the place that the contract's signature names. A report that does
not hold is a warning about the report. Where nothing can be said, the result is ``open``. Of a browser session each
failure is a finding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.load_record import AssertionRecord
from runner.evidence.result import Result, Sample
from runner.reports.naming import file_name
from runner.reports.places import Place, places
from runner.reports.sarif_rules import (
    ASSERTION_FAILED,
    COMMAND_RULES,
    NO_VERDICT,
    NOT_REPRODUCED,
    REPRODUCED,
    RULES,
    RUN_REFUSED,
    Rule,
)
from runner.reports.sarif_text import digest, literal, text
from runner.reports.session_sarif import failure_results
from runner.reports.words import FAILED, GOOD, counted, ended, headline, reasons, refusal, run_name

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_MAX_REASONS = 20
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")


def render_sarif(evidence: Evidence) -> str:
    """One run of SARIF, ASCII."""
    result = evidence.result
    rules = COMMAND_RULES if result.session is None else RULES
    run = {
        "tool": {"driver": {"name": "sandbox-runner", "version": text(result.tool.get("version", "unknown")),
                            "rules": [rule.descriptor() for rule in rules]}},
        "automationDetails": {"id": f"sandbox-runner/{text(result.report_sha256[:12])}/{text(result.run_id)}"},
        "invocations": [_invocation(result)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the payload."}}},
        "artifacts": [{"location": {"uri": _report_uri(result)}, "roles": ["referencedOnCommandLine"],
                       **_hashes(result)}],
        "results": list(_results(evidence)),
        "columnKind": "unicodeCodePoints",
        "properties": _properties(result),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True) + "\n"


def _hashes(result: Result) -> dict[str, Any]:
    """A recording that came to nothing has no report."""
    known = result.bundle_sha256 or result.report_sha256
    return {"hashes": {"sha-256": text(known)}} if known else {}


def _results(evidence: Evidence) -> Iterator[dict[str, Any]]:
    result = evidence.result
    rule = {"reproduced": REPRODUCED, "not_reproduced": NOT_REPRODUCED}.get(result.verdict, NO_VERDICT)
    frames = places(evidence)
    where = {"locations": [_main_location(result, frames)]}
    stack = {"stacks": [_stack(frames)]} if frames else {}
    if result.load is not None:
        failed = [row for row in result.assertions or () if row.status == "fail"]
        yield from (_assertion(result, row) | where for row in failed)
        if result.verdict not in GOOD and not (failed and result.verdict in FAILED):
            kind = ASSERTION_FAILED if result.verdict in FAILED else NO_VERDICT
            yield _finding(result, kind, _verdict_text(result), "verdict") | where
        return
    if result.session is None or result.verdict not in GOOD:
        yield _finding(result, rule, _verdict_text(result), "verdict") | where | stack
    if result.session is not None:
        yield from failure_results(evidence, result.session)
    for sample in result.samples:
        if not sample.accepted:
            yield _refused(result, sample) | where


def _assertion(result: Result, row: AssertionRecord) -> dict[str, Any]:
    said = f"The assertion {literal(row.id)} failed: {literal(row.reason)}."
    return _finding(result, ASSERTION_FAILED, said, row.id)


def _verdict_text(result: Result) -> str:
    signature = result.contract.signature or {}
    failure = f" {literal(signature['class'])}: {literal(signature.get('message'))}." if "class" in signature else ""
    why = "".join(f" {literal(reason)}." for reason in reasons(result)[:_MAX_REASONS])
    return f"{headline(result).capitalize()}: {counted(result)}.{failure}{why}"


def _refused(result: Result, sample: Sample) -> dict[str, Any]:
    name = run_name(sample)
    undecided = sample.outcome == "no_verdict"
    said = f"{name.capitalize()} was not accepted: {literal(ended(sample))}, {literal(refusal(sample))}."
    finding = _finding(result, NO_VERDICT if undecided else RUN_REFUSED, said, name)
    return finding | {"properties": {"run": sample.index, "cause": text(sample.cause), "exitCode": sample.returncode,
                                     "outcome": text(sample.outcome), "outputSha256": text(sample.output_sha256)}}


def _finding(result: Result, rule: Rule, said: str, about: str) -> dict[str, Any]:
    """Its fingerprint is the same in every replay of this report on this payload."""
    subject = [result.report_sha256, result.payload_fingerprint.content, rule.id, about]
    return {"ruleId": rule.id, "ruleIndex": RULES.index(rule), "kind": rule.kind, "level": rule.level,
            "message": {"text": said}, "fingerprints": {"replay/v1": digest(subject)},
            "partialFingerprints": {"contract/v1": digest(result.contract.model_dump(mode="json"))}}


def _main_location(result: Result, frames: tuple[Place, ...]) -> dict[str, Any]:
    """The innermost frame that lies in the payload. Without one the report's file: code scanning wants some file."""
    inner = next((frame for frame in frames if frame.file is not None), None)
    if inner is not None:
        return _location(inner)
    return {"physicalLocation": {"artifactLocation": {"uri": _report_uri(result), "index": 0}}}


def _stack(frames: tuple[Place, ...]) -> dict[str, Any]:
    return {"message": {"text": "The frames of the recorded signature, innermost first."},
            "frames": [{"location": _location(frame)} for frame in frames]}


def _location(frame: Place) -> dict[str, Any]:
    location: dict[str, Any] = {"logicalLocations": [
        {"name": text(frame.function), "fullyQualifiedName": text(frame.name), "kind": "function"}]}
    if frame.file is not None:
        uri = quote(frame.file.encode("utf-8", "surrogateescape"))
        physical: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": _ROOT}}
        if frame.line is not None:
            physical["region"] = {"startLine": frame.line}
        location["physicalLocation"] = physical
    return location


def _invocation(result: Result) -> dict[str, Any]:
    told = [("error", result.error)] if result.error else []
    told += [("warning", note) for note in result.warnings]
    told += [("note", f"{row.what}: recorded {row.recorded}, used {row.used}") for row in result.drift]
    times = {key: value for key, value in (("startTimeUtc", result.started), ("endTimeUtc", result.finished))
             if _is_moment(value)}
    return {"executionSuccessful": result.error is None, "exitCode": result.exit_code, **times,
            "toolExecutionNotifications": [{"level": level, "message": {"text": literal(note)}}
                                           for level, note in told]}


def _report_uri(result: Result) -> str:
    return quote(printable(file_name(result.report)))


def _is_moment(text: str) -> bool:
    try:
        return _MOMENT.fullmatch(text) is not None and datetime.fromisoformat(text).year > 0
    except ValueError:
        return False


def _properties(result: Result) -> dict[str, Any]:
    return {"verdict": text(result.verdict), "runId": text(result.run_id), "command": text(result.command),
            "runs": result.runs, "passes": result.passes, "resultSha256": result.core_sha256(),
            "payloadFingerprint": text(result.payload_fingerprint.exact), "policySha256": text(result.policy.sha256),
            "backend": text(result.backend), "imageId": text(result.image.used_id) if result.image else None}

