"""What can be left out of a session: its steps and faults, those together that make sense only together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from runner.browser.faults import ApiFault
from runner.browser.trace import ApiFaultStep, CookieEviction, StateFaultStep
from runner.controller.shrinking.candidate import Candidate


@dataclass(frozen=True, slots=True)
class Part:
    """Positions in a candidate; ``None``: no such thing in this part."""

    step: int | None = None
    api_fault: int | None = None
    state_fault: int | None = None


def parts_of(candidate: Candidate) -> tuple[Part, ...]:
    """In the order of the trace, and then the faults that no step stands for.

    The k-th state fault goes with the k-th step that carries one out. A step that marks a fault in an answer goes
    with the first such fault that no earlier step took.
    """
    steps = tuple(_with_their_faults(candidate))
    with_api = {part.api_fault for part in steps}
    with_state = {part.state_fault for part in steps}
    return (*steps,
            *(Part(api_fault=at) for at in range(len(candidate.api_faults)) if at not in with_api),
            *(Part(state_fault=at) for at in range(len(candidate.state_faults)) if at not in with_state))


def _with_their_faults(candidate: Candidate) -> Iterator[Part]:
    state_faults = iter(range(len(candidate.state_faults)))
    untaken: dict[int | None, ApiFault] = dict(enumerate(candidate.api_faults))
    for index, step in enumerate(candidate.trace):
        if isinstance(step, StateFaultStep):
            yield Part(step=index, state_fault=next(state_faults, None))
            continue
        taken = None
        if isinstance(step, ApiFaultStep | CookieEviction):
            taken = next((at for at, fault in untaken.items() if _marks(step, fault)), None)
            untaken.pop(taken, None)
        yield Part(step=index, api_fault=taken)


def _marks(step: ApiFaultStep | CookieEviction, fault: ApiFault) -> bool:
    if isinstance(step, CookieEviction):
        return fault.fault_type == "cookie_eviction"
    return (step.fault_type, step.url) == (fault.fault_type, fault.url)


def keep(candidate: Candidate, parts: Iterable[Part]) -> Candidate:
    """The candidate with these of its parts only. A fault that waited for a step waits for the next that is kept."""
    kept = tuple(parts)
    steps = sorted(part.step for part in kept if part.step is not None)
    api_faults = sorted(part.api_fault for part in kept if part.api_fault is not None)
    state_faults = sorted(part.state_fault for part in kept if part.state_fault is not None)
    return replace(candidate, trace=tuple(candidate.trace[at] for at in steps),
                   api_faults=tuple(_moved(candidate.api_faults[at], steps) for at in api_faults),
                   state_faults=tuple(candidate.state_faults[at] for at in state_faults))


def _moved(fault: ApiFault, steps: list[int]) -> ApiFault:
    """The fault at its place among the steps that are left."""
    begun = min(bisect_left(steps, fault.from_step), len(steps) - 1) if fault.from_step >= 0 else fault.from_step
    return replace(fault, from_step=begun, step=bisect_right(steps, fault.step) - 1)
