"""The evidence as SARIF 2.1.0 (OASIS standard, errata 01): findings for code scanning.

A reproduced failure is an error in the payload, at the place that the contract's signature names. A report that does
not hold is a warning about the report. Where nothing can be said, the result is ``open``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.events import canonical
from runner.evidence.result import Result, Sample
from runner.reports.places import Place, places
from runner.reports.sarif_rules import NO_VERDICT, NOT_REPRODUCED, REPRODUCED, RULES, RUN_REFUSED, Rule
from runner.reports.words import counted, ended, file_name, headline, reasons, refusal, run_name

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_MAX_TEXT = 1_000
_MAX_REASONS = 20
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z")


def render_sarif(evidence: Evidence) -> str:
    """One run of SARIF, ASCII."""
    result = evidence.result
    run = {
        "tool": {"driver": {"name": "sandbox-runner", "version": _text(result.tool.get("version", "unknown")),
                            "rules": [rule.descriptor() for rule in RULES]}},
        "automationDetails": {"id": f"sandbox-runner/{_text(result.report_sha256[:12])}/{_text(result.run_id)}"},
        "invocations": [_invocation(result)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the payload."}}},
        "artifacts": [{"location": {"uri": _report_uri(result)}, "roles": ["referencedOnCommandLine"],
                       "hashes": {"sha-256": _text(result.bundle_sha256 or result.report_sha256)}}],
        "results": list(_results(evidence)),
        "columnKind": "unicodeCodePoints",
        "properties": _properties(result),
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, sort_keys=True) + "\n"


def _results(evidence: Evidence) -> Iterator[dict[str, Any]]:
    result = evidence.result
    rule = {"reproduced": REPRODUCED, "not_reproduced": NOT_REPRODUCED}.get(result.verdict, NO_VERDICT)
    frames = places(evidence)
    where = {"locations": [_main_location(result, frames)]}
    stack = {"stacks": [_stack(frames)]} if frames else {}
    yield _finding(result, rule, _verdict_text(result), "verdict") | where | stack
    for sample in result.samples:
        if not sample.accepted:
            yield _refused(result, sample) | where


def _verdict_text(result: Result) -> str:
    signature = result.contract.signature or {}
    failure = f" {_literal(signature['class'])}: {_literal(signature.get('message'))}." if "class" in signature else ""
    why = "".join(f" {_literal(reason)}." for reason in reasons(result)[:_MAX_REASONS])
    return f"{headline(result).capitalize()}: {counted(result)}.{failure}{why}"


def _refused(result: Result, sample: Sample) -> dict[str, Any]:
    name = run_name(sample)
    undecided = sample.outcome == "no_verdict"
    text = f"{name.capitalize()} was not accepted: {_literal(ended(sample))}, {_literal(refusal(sample))}."
    finding = _finding(result, NO_VERDICT if undecided else RUN_REFUSED, text, name)
    return finding | {"properties": {"run": sample.index, "cause": _text(sample.cause), "exitCode": sample.returncode,
                                     "outcome": _text(sample.outcome), "outputSha256": _text(sample.output_sha256)}}


def _finding(result: Result, rule: Rule, text: str, about: str) -> dict[str, Any]:
    """Its fingerprint is the same in every replay of this report on this payload."""
    subject = [result.report_sha256, result.payload_fingerprint.content, rule.id, about]
    return {"ruleId": rule.id, "ruleIndex": RULES.index(rule), "kind": rule.kind, "level": rule.level,
            "message": {"text": text}, "fingerprints": {"replay/v1": sha256(canonical(subject)).hexdigest()},
            "partialFingerprints": {"contract/v1": _digest(result.contract.model_dump(mode="json"))}}


def _digest(document: object) -> str:
    return sha256(canonical(document)).hexdigest()


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
        {"name": _text(frame.function), "fullyQualifiedName": _text(frame.name), "kind": "function"}]}
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
            "toolExecutionNotifications": [{"level": level, "message": {"text": _literal(text)}}
                                           for level, text in told]}


def _report_uri(result: Result) -> str:
    return quote(printable(file_name(result.report)))


def _is_moment(text: str) -> bool:
    try:
        return _MOMENT.fullmatch(text) is not None and datetime.fromisoformat(text).year > 0
    except ValueError:
        return False


def _properties(result: Result) -> dict[str, Any]:
    return {"verdict": _text(result.verdict), "runId": _text(result.run_id), "command": _text(result.command),
            "runs": result.runs, "passes": result.passes, "resultSha256": result.core_sha256(),
            "payloadFingerprint": _text(result.payload_fingerprint.exact), "policySha256": _text(result.policy.sha256),
            "backend": _text(result.backend), "imageId": _text(result.image.used_id) if result.image else None}


def _text(value: object) -> str:
    return printable(str(value)[:_MAX_TEXT])


def _literal(value: object) -> str:
    """For a message, in which ``[…](…)`` is a link and ``{0}`` a placeholder (SARIF 3.11.5, 3.11.6)."""
    shown = _text(value)
    for plain, escaped in (("\\", "\\\\"), ("[", "\\["), ("]", "\\]"), ("{", "{{"), ("}", "}}")):
        shown = shown.replace(plain, escaped)
    return shown
