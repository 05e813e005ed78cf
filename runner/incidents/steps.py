"""Steps of a trace, as they are written in incidents: flat objects with ``kind``, in LOKI's words, without nulls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from runner.browser.trace import STEPS, Click, Fill, Press, Step, Throttle
from runner.errors import ReportError
from runner.incidents.strict import read_as
from runner.sources.wording import wrong

MAX_REPEAT = 10_000
MAX_MS = 600_000
"""Of a single delay or latency."""
MAX_SELECTOR = 4096
MAX_VALUE = 1 << 20


def read_step(value: Mapping[str, Any], where: str) -> Step:
    """One step. Keys with null are taken as left out. Raises ReportError for an unknown kind or a wrong type."""
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in STEPS:
        raise wrong(f"{where}.kind", kind, "one of " + ", ".join(STEPS))
    given = {key: item for key, item in value.items() if item is not None}
    details = given.pop("details", None) if kind == "ui_freeze" else None
    if isinstance(details, dict):
        given |= {key: details[key] for key in ("type", "reason") if isinstance(details.get(key), str)}
    step: Step = read_as(STEPS[kind], given, where)
    _check(step, where)
    return step


def write_step(step: Step) -> dict[str, Any]:
    """One step as :func:`read_step` reads it, and LOKI."""
    fields = {key: value for key, value in asdict(step).items() if value is not None}
    if step.kind == "ui_freeze":
        return {"kind": step.kind, "details": {"type": fields["type"], "reason": fields["reason"]}}
    return {"kind": step.kind, **fields}


def _check(step: Step, where: str) -> None:
    selector = step.selector if isinstance(step, Click | Fill | Press) else None
    if selector is not None and not 0 < len(selector) <= MAX_SELECTOR:
        raise ReportError(f"{where}.selector: has {len(selector)} characters, expected 1 to {MAX_SELECTOR}")
    if isinstance(step, Click) and not (1 <= step.repeat <= MAX_REPEAT and 0 <= step.delay_ms <= MAX_MS):
        raise ReportError(f"{where}: repeats {step.repeat} times after {step.delay_ms} ms, expected"
                          f" 1 to {MAX_REPEAT} times after 0 to {MAX_MS} ms")
    if isinstance(step, Throttle) and not 0 <= step.latency_ms <= MAX_MS:
        raise ReportError(f"{where}.latency_ms: is {step.latency_ms}, expected 0 to {MAX_MS}")
    if isinstance(step, Fill) and len(step.value) > MAX_VALUE:
        raise ReportError(f"{where}.value: has {len(step.value)} characters, expected at most {MAX_VALUE}")
