"""What browser sessions add to a comparison of two runs: failures, steps, the session, how applications ended.

Times, screenshots and the driver's own files are another in every run, and are no difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from runner.evidence.result import Result
from runner.reports.diff.fields import Rows, differing
from runner.reports.session_words import STATES, target_ended

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
    """By identity: what became of each, and in how many runs it was seen, if neither in all nor in none."""
    session = result.session
    return {failure.key: STATES[failure.state] + (
        f" ({failure.seen} of {failure.runs} runs)" if 0 < failure.seen < failure.runs else "")
        for failure in (session.failures if session is not None else ())}


def _steps(result: Result) -> dict[str, str]:
    """What each step was, and whether it was taken: in every run, or in how many."""
    texts: dict[int, str] = {}
    states: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for sample in result.samples:
        for step in sample.session.steps if sample.session is not None else ():
            texts.setdefault(step.index, step.text or step.kind)
            states[step.index][step.state] += 1
    runs = sum(sample.session is not None for sample in result.samples)
    return {f"step {index}": f"{texts[index]}: {_share(states[index], runs)}" for index in sorted(texts)}


def _share(states: Counter[str], runs: int) -> str:
    return ", ".join(state if count == runs else f"{state} in {count} of {runs} runs"
                     for state, count in sorted(states.items()))


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


def _applications(result: Result) -> dict[str, str]:
    """How they ended: all of them, or how many in which way."""
    ended = Counter(target_ended(sample.target) for sample in result.samples if sample.target is not None)
    return {"ended": _share(ended, ended.total())} if ended else {}
