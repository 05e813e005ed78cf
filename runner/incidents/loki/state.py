"""State faults of LOKI, each put at its place in the trace."""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner.browser.faults import StateFault, StateFaultType
from runner.browser.trace import StateFaultStep, Step
from runner.incidents.loki.har import REDACTED
from runner.incidents.loki.shape import StateEvent

_STORED = frozenset({"truncated_json", "invalid_literal", "schema_rot", "type_swap"})
_AREA: dict[StateFaultType, tuple[str, str]] = {
    "clock_drift": ("clock", "Date.now"), "quota_exceeded": ("Storage", "Storage.prototype.setItem"),
    "poisoned_reload": ("lifecycle", "window.location.reload")}
_MILLISECONDS = re.compile(r"\((\d{1,12})ms\)")
_SECONDS = re.compile(r"([+-]?\d{1,9}) ?s\b")


def placed(trace: Sequence[Step], events: Sequence[StateEvent]) -> tuple[tuple[Step, ...], tuple[StateFault, ...],
                                                                         tuple[str, ...]]:
    """The trace with one ``state_fault`` step for each fault, the faults in the order of their steps, and notes.

    An entry belongs to the first step of its type and target that has none yet. Entries without a step get one where
    LOKI's replay applies them: before all others, a reload after them.
    """
    waiting = list(events)
    steps: list[Step] = []
    faults: list[StateFault] = []
    notes: list[str] = []
    for step in trace:
        if isinstance(step, StateFaultStep):
            event = _taken(waiting, step)
            if event is None:
                notes.append(f"state_faults has no entry for the step {step.fault_type} on {step.target or 'the page'}")
            faults.append(_fault(event) if event is not None else _of_step(step))
        steps.append(step)
    first = [event for event in waiting if event.fault_type != "poisoned_reload"]
    last = [event for event in waiting if event.fault_type == "poisoned_reload"]
    if waiting:
        notes.append(f"{len(waiting)} state faults have no step; they are applied as LOKI does: after the first"
                     " navigation, a reload at the end")
    steps = [*map(_step, first), *steps, *map(_step, last)]
    faults = [*map(_fault, first), *faults, *map(_fault, last)]
    notes += [f"what {fault.fault_type} stored under {fault.key!r} is not in the recording" for fault in faults
              if fault.fault_type in _STORED and (fault.injected_value is None or REDACTED in fault.injected_value)]
    return tuple(steps), tuple(faults), tuple(notes)


def _taken(waiting: list[StateEvent], step: StateFaultStep) -> StateEvent | None:
    same = [event for event in waiting if event.fault_type == step.fault_type]
    found = next((event for event in same if event.target == step.target), same[0] if same else None)
    if found is not None:
        waiting.remove(found)
    return found


def _step(event: StateEvent) -> StateFaultStep:
    return StateFaultStep(event.fault_type, event.target, event.details)


def _fault(event: StateEvent) -> StateFault:
    area, key = _AREA.get(event.fault_type) or _split(event.target)
    return StateFault(event.fault_type, event.storage_area or area, event.key or key, event.injected_value,
                      _offset(event) if event.fault_type == "clock_drift" else 0, event.original_value, event.details)


def _of_step(step: StateFaultStep) -> StateFault:
    """A fault of which only the step is left: type, target and a sentence."""
    event = StateEvent.model_validate({"fault_type": step.fault_type, "target": step.target, "details": step.details})
    return _fault(event)


def _split(target: str) -> tuple[str, str]:
    area, dot, key = target.partition(".")
    return (area, key) if dot and area in ("localStorage", "sessionStorage") else ("localStorage", target)


def _offset(event: StateEvent) -> int:
    """Milliseconds, from the first of the places where LOKI writes them."""
    for key, factor in (("offset_ms", 1), ("offset_seconds", 1000)):
        value = event.details_meta.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12:
            return int(value * factor)
    if found := _MILLISECONDS.search(event.details):
        return int(found[1])
    found = _SECONDS.search(event.injected_value or "") or _SECONDS.search(event.details)
    return int(found[1]) * 1000 if found else 0
