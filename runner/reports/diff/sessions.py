"""What browser sessions add to a comparison of two runs: failures, steps, the session, how applications ended.

Times, screenshots and the driver's own files are another in every run, and are no difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from runner.evidence.result import Result
from runner.reports.diff.fields import Rows, differing
from runner.reports.session_words import STATES

MOST_STEPS = 200
_FACTS = ("mode", "url", "persona", "seed", "pace", "steps", "target_command", "ready", "browser", "failures",
          "api_faults", "state_faults", "lanes", "uncontrolled", "notes")


def session_sections(a: Result, b: Result) -> dict[str, Rows]:
    """Sections by name; none where neither side is a session."""
    if a.session is None and b.session is None:
        return {}
    return {"session": differing(_facts(a), _facts(b)), "failures": differing(_failures(a), _failures(b)),
            "steps": differing(_steps(a), _steps(b))[:MOST_STEPS], "faults": differing(_unfired(a), _unfired(b)),
            "browser": differing(_browser(a), _browser(b)),
            "applications": differing(_applications(a), _applications(b))}


def _facts(result: Result) -> dict[str, Any]:
    if result.session is None:
        return {}
    return result.session.model_dump(mode="json", include=set(_FACTS) - {"failures", "browser"})


def _failures(result: Result) -> dict[str, str]:
    """By identity: what became of each."""
    session = result.session
    return {failure.key: f"{STATES[failure.state]} ({failure.seen} of {failure.runs} runs)"
            for failure in (session.failures if session is not None else ())}


def _steps(result: Result) -> dict[str, str]:
    """What each step was, and in how many runs it was taken, or not."""
    texts: dict[int, str] = {}
    states: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for sample in result.samples:
        for step in sample.session.steps if sample.session is not None else ():
            texts.setdefault(step.index, step.text or step.kind)
            states[step.index][step.state] += 1
    return {f"step {index}": f"{texts[index]}: " + ", ".join(
        f"{state} in {count} {'run' if count == 1 else 'runs'}" for state, count in sorted(states[index].items()))
        for index in sorted(texts)}


def _unfired(result: Result) -> dict[str, str]:
    """Recorded faults whose request did not come, and in how many runs."""
    late = Counter(fault for sample in result.samples if sample.session is not None
                   for fault in sample.session.unfired)
    return {fault: f"never came in {count} runs" for fault, count in sorted(late.items())}


def _browser(result: Result) -> dict[str, Any]:
    session = result.session
    if session is None:
        return {}
    facts = session.browser.model_dump(mode="json") if session.browser is not None else {}
    return {**facts, "image": session.driver_image.used_id, "policy": session.driver_policy.sha256}


def _applications(result: Result) -> dict[str, int]:
    """How many of them ended in which way."""
    def ended(sample: Any) -> str:
        code = "" if sample.target.returncode is None else f" {sample.target.returncode}"
        return f"{sample.target.cause}{code}"

    return dict(Counter(ended(sample) for sample in result.samples if sample.target is not None))
