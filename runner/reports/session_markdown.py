"""What Markdown shows of a browser session: each failure, steps that were not taken, lanes, noise, the application.

Tables hold hostile texts in code only, as all of :mod:`runner.reports.markdown` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from runner.evidence.check import Evidence
from runner.evidence.result import Result, Sample
from runner.evidence.session_record import SessionRecord
from runner.reports.markup import fenced
from runner.reports.session_words import STATES, is_recording, odd_steps, target_ended
from runner.reports.tables import bounded, listed, table
from runner.reports.words import excerpt

_MOST = 50
_MAX_OUTPUT = 4_000


def session_parts(result: Result, session: SessionRecord) -> tuple[Iterator[str], ...]:
    """The sections that only sessions have, in order; empty ones yield nothing."""
    return (_failures(result, session), _odd_steps(result), _lanes(result, session), _noise(result),
            _what(result, session), _applications(result))


def _failures(result: Result, session: SessionRecord) -> Iterator[str]:
    yield "## Failures"
    yield ""
    if not session.failures:
        yield "None was found." if is_recording(result) else "None was seen."
        return
    rows = [(STATES[each.state], each.key, each.id, f"{each.seen} of {each.runs}", _when(each.step))
            for each in session.failures]
    yield from bounded(("State", "Failure", "ID", "Seen in runs", "First at step"), rows, _MOST, "failures")


def _when(step: int | None) -> str:
    if step is None:
        return "not known"
    return "before the first" if step < 0 else str(step)


def _odd_steps(result: Result) -> Iterator[str]:
    rows = [(str(sample.index), str(step.index), step.text or step.kind, step.state, step.detail or "nothing",
             step.screenshot or "none") for sample, step in odd_steps(result)]
    if rows:
        yield "## Steps that were not taken"
        yield ""
        yield from bounded(("Run", "Step", "What", "State", "Why", "Screenshot"), rows, _MOST, "steps")


def _lanes(result: Result, session: SessionRecord) -> Iterator[str]:
    rows = [(str(sample.index), str(lane.lane), lane.selector or "the first button",
             "never" if lane.clicked_ms is None else f"{lane.clicked_ms:.1f}", "; ".join(lane.responses) or "none",
             "; ".join(lane.crashes) or "none")
            for sample in result.samples if sample.session is not None for lane in sample.session.lanes]
    if not rows:
        return
    yield f"## Lanes{'' if not session.rate else ': ' + _plain(session.rate)}"
    yield ""
    yield from bounded(("Run", "Lane", "Clicked", "At (ms)", "Answers", "Errors"), rows, _MOST, "lanes")


def _plain(rate: str) -> str:
    """Letters and digits only: a heading is no place for code."""
    return "".join(char for char in rate[:60] if char.isascii() and (char.isalnum() or char == " "))


def _noise(result: Result) -> Iterator[str]:
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for sample in result.samples:
        for noise in sample.session.noise if sample.session is not None else ():
            counts[noise.rule] += noise.count
            first.setdefault(noise.rule, noise.first)
    if counts:
        yield "## Noise"
        yield ""
        yield "What the browser told of and is no failure of the application, by the rule that says so."
        yield ""
        rows = [(rule, str(count), first[rule] or "not kept") for rule, count in counts.items()]
        yield from bounded(("Rule", "Times", "First"), rows, _MOST, "rules")


def _what(result: Result, session: SessionRecord) -> Iterator[str]:
    yield "## Session"
    yield ""
    yield from table(("What", "Value"), list(_facts(result, session)))
    yield from listed("Notes", session.notes)
    yield from listed("Recorded faults whose request never came", _unfired(result))


def _facts(result: Result, session: SessionRecord) -> Iterator[tuple[str, str]]:
    yield "application", session.target_command or "runs elsewhere"
    yield "opened", session.url
    yield "started when", session.ready
    yield "played", f"{session.mode}, {_steps(result, session)} steps, pace {session.pace}"
    if session.persona is not None or session.seed is not None:
        yield "persona and seed", f"{session.persona or 'none'}, {'no seed' if session.seed is None else session.seed}"
    yield "faults", f"{session.api_faults} in answers, {session.state_faults} in stored state"
    if session.uncontrolled:
        yield "uncontrolled", ", ".join(session.uncontrolled)
    if session.browser is not None:
        browser = session.browser
        yield "browser", f"{browser.name} {browser.version}, Playwright {browser.playwright}"
        yield "its own sandbox", browser.sandbox
        yield "device and viewport", f"{browser.device or 'none'}, {browser.viewport}"
    yield "browser image", f"{session.driver_image.used_id} ({session.driver_image.name})"
    yield "browser policy", f"{session.driver_policy.name} {session.driver_policy.sha256}"
    for file in session.files[:_MOST]:
        yield f"file {file.name}", f"{file.bytes} bytes, sha256 {file.sha256}"


def _steps(result: Result, session: SessionRecord) -> int:
    taken = (len(sample.session.steps) for sample in result.samples if sample.session is not None)
    return session.steps or max(taken, default=0)


def _unfired(result: Result) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fault for sample in result.samples if sample.session is not None
                               for fault in sample.session.unfired))


def _applications(result: Result) -> Iterator[str]:
    rows = [(str(sample.index), target_ended(sample.target), f"{sample.target.wall_seconds:.3f}",
             "not known" if sample.target.peak_memory is None else f"{sample.target.peak_memory / (1 << 20):.1f} MiB",
             str(len(sample.target.changes)) if sample.target.changes else sample.target.changes_note or "nothing")
            for sample in result.samples if sample.target is not None]
    if rows:
        yield "## The application"
        yield ""
        yield from bounded(("Run", "Ended", "Wall (s)", "Peak memory", "Files changed"), rows, _MOST, "runs")


def session_output(evidence: Evidence, sample: Sample) -> Iterator[str]:
    """What the application of a run wrote."""
    if sample.target is None:
        return
    yield f"## Output of the application in run {sample.index}"
    for name, raw in (("stdout", evidence.target_output(sample.target, "stdout")),
                      ("stderr", evidence.target_output(sample.target, "stderr"))):
        yield ""
        if raw:
            yield f"{name}:"
            yield ""
            yield from fenced(excerpt(raw, _MAX_OUTPUT).expandtabs().removesuffix("\n").split("\n"))
        else:
            yield f"{name}: nothing"
