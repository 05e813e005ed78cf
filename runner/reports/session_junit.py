"""A browser session's failures as JUnit test cases: one for each, named alike in every replay of an incident.

Of a replay: one that was seen in every run passes; one that is gone, or not in every run, is a failure; one that nobody
can say to be gone is an error. Skipped are a new one, of which the report claims nothing, and one that is gone and on
which the verdict does not rest. Of a recording: each that was found is a failure.
"""

from __future__ import annotations

from collections.abc import Iterator

# Nothing is parsed here, only written, so the parser's weaknesses do not matter.
from xml.etree.ElementTree import Element, SubElement

from runner.errors import printable
from runner.evidence.check import Evidence, StreamName
from runner.evidence.result import Result, Sample
from runner.evidence.session_record import FailureVerdict, SessionRecord
from runner.reports.session_words import failure_name, failure_text, undecisive
from runner.reports.words import excerpt

_CLASS = "runner.session"
_MAX_TEXT = 1_000
_MOST = 500
_PROBLEMS = {"not_reproduced": "failure", "partly": "failure", "recorded": "failure", "unknown": "error",
             "new": "skipped"}
_BETWEEN = "-- the {} driver --\n"


def failure_cases(result: Result, session: SessionRecord) -> Iterator[Element]:
    """The test cases, at most 500; ``time`` is 0, because failures are seen in runs."""
    light = undecisive(session)
    for failure in session.failures[:_MOST]:
        case = Element("testcase", {"name": _text(failure_name(failure)), "classname": _CLASS, "time": "0.000"})
        problem = _PROBLEMS.get(failure.state)
        if failure.id in light and failure.state in ("not_reproduced", "partly"):
            problem = "skipped"
        if problem is not None:
            SubElement(case, problem, {"type": _text(failure.state), "message": _text(failure_text(failure))}).text = \
                "\n".join(map(_text, _seen(result, failure)))
        yield case


def _seen(result: Result, failure: FailureVerdict) -> Iterator[str]:
    yield failure.key
    for sample in result.samples:
        for seen in sample.session.failures if sample.session is not None else ():
            if seen.id == failure.id:
                when = "" if seen.at_ms is None else f", {seen.at_ms:.0f} ms after the first navigation"
                where = "" if seen.step is None else f", step {seen.step}"
                yield f"run {sample.index}: {'once' if seen.count == 1 else f'{seen.count} times'}{where}{when}"


def session_output(evidence: Evidence, sample: Sample, limit: int) -> tuple[tuple[str, str], ...]:
    """What the application of a run wrote, then what the driver did."""
    return (("system-out", _both(evidence, sample, "stdout", limit)),
            ("system-err", _both(evidence, sample, "stderr", limit)))


def _both(evidence: Evidence, sample: Sample, stream: StreamName, limit: int) -> str:
    theirs = b"" if sample.target is None else evidence.target_output(sample.target, stream)
    ours = evidence.output(sample, stream)
    text = excerpt(theirs, limit) if theirs else ""
    if not ours:
        return text
    between = _BETWEEN.format("browser's" if evidence.result.load is None else "load")
    return text + ("\n" if text and not text.endswith("\n") else "") + between + excerpt(ours, limit // 4)


def session_properties(session: SessionRecord) -> Iterator[tuple[str, str]]:
    """What a session has beside a command's run."""
    yield "session_mode", session.mode
    yield "url", session.url
    yield "browser_image_id", session.driver_image.used_id
    yield "browser_policy_sha256", session.driver_policy.sha256
    if session.browser is not None:
        yield "browser", f"{session.browser.name} {session.browser.version}"
        yield "browser_sandbox", session.browser.sandbox
    if session.persona is not None:
        yield "persona", session.persona
    if session.seed is not None:
        yield "seed", str(session.seed)
    if session.rate:
        yield "race", session.rate
    if session.uncontrolled:
        yield "uncontrolled", ", ".join(session.uncontrolled)


def _text(value: str) -> str:
    """One line that XML can hold."""
    return printable(value[:_MAX_TEXT])
