"""What a driver said of one run, put into the evidence's words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from runner.browser.outcome import Lane, Outcome, StepRecord
from runner.browser.trace import Click, Fill, Press, Step
from runner.errors import printable
from runner.evidence.session_record import FailureVerdict, LaneRecord, NoiseRecord, SeenFailure, SessionRun, StepTaken
from runner.incidents.identity import is_grave
from runner.incidents.model import Failure, Incident, NoiseCount

_TEXT = 200
_MOST_RESPONSES = 20


def session_run(outcome: Outcome, failures: Sequence[Failure], noise: Sequence[NoiseCount],
                known: frozenset[str] = frozenset(), missing: tuple[str, ...] = (),
                unfired: tuple[str, ...] = ()) -> SessionRun:
    """One run. ``known`` are IDs of recorded failures, ``missing`` those that this run did not show."""
    return SessionRun(
        state=outcome.state, detail=_short(outcome.detail), duration_ms=outcome.duration_ms,
        steps=tuple(_step(record, outcome.trace) for record in outcome.steps),
        failures=tuple(_failure(failure, known) for failure in failures), missing=missing,
        noise=tuple(NoiseRecord(rule=each.rule, count=each.count, first=_short(each.first)) for each in noise),
        lanes=_lanes(outcome.lanes), spread_ms=outcome.spread_ms,
        uncontrolled=tuple(_short(source) for source in outcome.uncontrolled),
        unfired=tuple(_short(fault) for fault in unfired),
        dropped={printable(kind): count for kind, count in outcome.dropped})


def verdicts_of_recording(incident: Incident) -> tuple[FailureVerdict, ...]:
    """What a recording found."""
    return tuple(FailureVerdict(id=failure.identity.id, key=failure.identity.key, kind=failure.identity.kind,
                                state="recorded", seen=1, runs=1, step=failure.step,
                                grave=is_grave(failure.identity)) for failure in incident.failures)


def step_text(step: Step) -> str:
    """A step as a person would say it."""
    match step:
        case Click():
            return _short(f"click {step.selector}" + (f" {step.repeat} times" if step.repeat > 1 else ""))
        case Fill():
            return _short(f"fill {step.selector} with {step.value}")
        case Press():
            return _short(f"press {step.key}" + (f" on {step.selector}" if step.selector else ""))
        case _:
            return _short(step.kind.replace("_", " "))


def _step(record: StepRecord, trace: Sequence[Step]) -> StepTaken:
    step = trace[record.index] if 0 <= record.index < len(trace) else None
    return StepTaken(index=record.index, kind=step.kind if step else "", text=step_text(step) if step else "",
                     state=record.state, started_ms=record.started_ms, ended_ms=record.ended_ms,
                     detail=_short(record.detail), screenshot=record.screenshot or None)


def _failure(failure: Failure, known: frozenset[str]) -> SeenFailure:
    identity, sample = failure.identity, failure.sample
    return SeenFailure(id=identity.id, key=identity.key, known=identity.id in known, count=failure.count,
                       step=failure.step, at_ms=failure.at_ms,
                       screenshot=(sample.screenshot or None) if sample is not None else None)


def _lanes(lanes: Sequence[Lane]) -> tuple[LaneRecord, ...]:
    clicked = [lane.clicked_ms for lane in lanes if lane.clicked_ms is not None]
    first = min(clicked, default=0.0)
    return tuple(LaneRecord(
        lane=lane.lane, selector=printable(lane.selector) if lane.selector is not None else None,
        clicked_ms=None if lane.clicked_ms is None else round(lane.clicked_ms - first, 3),
        responses=tuple(_short(f"{each.method} {each.url} {each.status}")
                        for each in lane.responses[:_MOST_RESPONSES]),
        crashes=tuple(_short(crash) for crash in lane.crashes[:_MOST_RESPONSES]),
        final_text=_short(lane.final_text) if lane.final_text is not None else None) for lane in lanes)


def _short(text: str) -> str:
    return printable(text[:_TEXT])
