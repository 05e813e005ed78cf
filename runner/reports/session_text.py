"""What a terminal shows of a browser session: failure by failure, then what kept a run from its end. Pure."""

from __future__ import annotations

from runner.evidence.result import Result, Sample
from runner.evidence.session_record import FailureVerdict, SessionRecord
from runner.reports.session_words import STATES, target_ended

_SHOWN = 10
_MARKS = {**STATES, "partly": "partly"}


def session_lines(result: Result, session: SessionRecord) -> list[str]:
    """The lines that take the place of a command's."""
    lines = [f"application  {session.target_command or 'runs elsewhere'}", f"opened       {session.url}",
             f"played       {_played(result, session)}"]
    lines += [f"{_MARKS[failure.state]:<12} {_failure(failure)}" for failure in session.failures[:_SHOWN]]
    if len(session.failures) > _SHOWN:
        lines.append(f"             and {len(session.failures) - _SHOWN} more failures, in result.json")
    if session.rate:
        lines.append(f"race         {session.rate}{_spread(result)}")
    lines += [f"why          {line}" for sample in result.samples for line in _why(sample)]
    lines += [f"ended        {line}" for line in _ended(result)[:_SHOWN]]
    if session.uncontrolled:
        lines.append(f"uncontrolled {', '.join(session.uncontrolled)}: a replay may take another course")
    browser = session.browser
    if browser is not None:
        lines.append(f"browser      {browser.name} {browser.version}, its own sandbox {browser.sandbox}")
    return lines


def _played(result: Result, session: SessionRecord) -> str:
    who = f"{session.persona}, " if session.persona else ""
    if session.mode == "race":
        return f"{session.lanes} lanes at once"
    seed = f", seed {session.seed}" if session.seed is not None else ""
    steps = session.steps
    if session.mode == "chaos":
        steps = max((len(sample.session.steps) for sample in result.samples if sample.session), default=0)
    return f"{who}{steps} steps{seed}"


def _failure(failure: FailureVerdict) -> str:
    where = f", first at step {failure.step}" if failure.step is not None and failure.step >= 0 else ""
    count = f" ({failure.seen} of {failure.runs} runs)" if failure.state != "recorded" else ""
    return f"{failure.key}{count}{where}"


def _spread(result: Result) -> str:
    spreads = [sample.session.spread_ms for sample in result.samples if sample.session is not None]
    shown = ", ".join(f"{spread:.1f} ms" for spread in spreads[:_SHOWN] if spread is not None)
    return f"; clicks apart by {shown}" if shown else ""


def _why(sample: Sample) -> list[str]:
    """Only of a run that says nothing: what was not seen is told above."""
    if sample.accepted or sample.outcome == "failed":
        return []
    return [f"run {sample.index}: {sample.detail or sample.cause}"]


def _ended(result: Result) -> list[str]:
    """Applications that did not serve to the end."""
    return [f"the application of run {sample.index}: {target_ended(sample.target)}" for sample in result.samples
            if sample.target is not None and sample.target.cause != "stopped"]
