"""The evidence as JUnit XML, in the dialect that Jenkins' ``junit-10.xsd`` describes: one test case for each
finished run, one for each failure of a browser session, and one for the verdict.

A run that did not match is a failure, one that nothing can be said of an error; so is the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator

# Nothing is parsed here, only written, so the parser's weaknesses do not matter.
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from runner.errors import printable
from runner.evidence.check import Evidence
from runner.evidence.result import Result, Sample
from runner.reports.load_junit import assertion_cases, load_properties
from runner.reports.session_junit import failure_cases, session_output, session_properties
from runner.reports.session_words import is_recording
from runner.reports.words import FAILED, GOOD, counted, excerpt, finite, headline, reasons, refusal, run_name

_CLASS = "runner.replay"
_MAX_OUTPUT = 16 << 10
_MAX_ALL_OUTPUT = 4 << 20
_MAX_TEXT = 1_000
_MAX_REASONS = 20
"""Bytes of one stream, and of all streams together; characters of a text; lines of the verdict's reasons."""


def render_junit(evidence: Evidence) -> str:
    """The XML document. Characters that XML cannot hold are shown as escapes."""
    result = evidence.result
    found = failure_cases(result, result.session) if result.session is not None else assertion_cases(result)
    cases = [*(_run(evidence, sample) for sample in result.samples), *found, _verdict(result)]
    failures, errors, skipped = (sum(case.find(kind) is not None for case in cases)
                                 for kind in ("failure", "error", "skipped"))
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": str(errors),
              "time": _seconds(sum(finite(sample.duration_seconds) for sample in result.samples))}
    command = "runner chaos" if is_recording(result) else "runner verify" if result.load else "runner replay"
    root = Element("testsuites", {"name": command, **counts})
    suite = SubElement(root, "testsuite", {"name": f"{command}: {_text(result.command)}", **counts,
                                           "skipped": str(skipped), "timestamp": _text(result.started)})
    properties = SubElement(suite, "properties")
    for name, value in _properties(result):
        SubElement(properties, "property", {"name": name, "value": _text(value)})
    suite.extend(cases)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _run(evidence: Evidence, sample: Sample) -> Element:
    case = _case(run_name(sample), finite(sample.duration_seconds))
    if not sample.accepted:
        undecided = sample.outcome == "no_verdict"
        problem = SubElement(case, "error" if undecided else "failure", {
            "type": _text(sample.mismatch_reason or sample.outcome), "message": _text(refusal(sample))})
        problem.text = "\n".join(_ending(sample))
    limit = min(_MAX_OUTPUT, _MAX_ALL_OUTPUT // (2 * len(evidence.result.samples)))
    driven = evidence.result.session is not None or evidence.result.load is not None
    written = session_output if driven else _output
    for tag, text in written(evidence, sample, limit):
        if text:
            SubElement(case, tag).text = text
    return case


def _output(evidence: Evidence, sample: Sample, limit: int) -> tuple[tuple[str, str], ...]:
    streams = (("system-out", evidence.output(sample, "stdout")), ("system-err", evidence.output(sample, "stderr")))
    return tuple((tag, excerpt(raw, limit) if raw else "") for tag, raw in streams)


def _ending(sample: Sample) -> Iterator[str]:
    yield f"cause: {_text(sample.cause)}"
    yield f"exit code: {sample.returncode}"
    if sample.expected_exit_code is not None:
        yield f"expected exit code: {sample.expected_exit_code}"
    if sample.signal is not None:
        yield f"signal: {sample.signal}"


def _verdict(result: Result) -> Element:
    case = _case("verdict", 0.0)
    if result.verdict not in GOOD:
        problem = SubElement(case, "failure" if result.verdict in FAILED else "error", {
            "type": _text(result.verdict), "message": f"{headline(result)}: {counted(result)}"})
        problem.text = "\n".join(_text(reason) for reason in reasons(result)[:_MAX_REASONS])
    if result.warnings:
        SubElement(case, "system-out").text = "\n".join(f"warning: {_text(note)}" for note in result.warnings)
    return case


def _case(name: str, seconds: float) -> Element:
    return Element("testcase", {"name": name, "classname": _CLASS, "time": _seconds(seconds)})


def _properties(result: Result) -> Iterator[tuple[str, str]]:
    yield "run_id", result.run_id
    yield "verdict", result.verdict
    yield "report_sha256", result.report_sha256
    yield "payload_fingerprint", result.payload_fingerprint.exact
    yield "policy_sha256", result.policy.sha256
    yield "backend", result.backend
    if result.image is not None:
        yield "image_id", result.image.used_id
    yield "result_sha256", result.core_sha256()
    if result.session is not None:
        yield from session_properties(result.session)
    if result.load is not None:
        yield from load_properties(result.load)
    for row in result.drift:
        yield f"drift.{_text(row.what)}", f"recorded {row.recorded}, used {row.used}"


def _seconds(value: float) -> str:
    return f"{finite(value):.3f}"


def _text(value: str) -> str:
    """One line that XML can hold."""
    return printable(value[:_MAX_TEXT])
