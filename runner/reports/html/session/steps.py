"""The timeline: each step with what failed at it, and a picture of the page then."""

from __future__ import annotations

from collections.abc import Mapping

from runner.evidence.session_record import SeenFailure, SessionRun, StepTaken
from runner.reports.html.session.media import Shelf
from runner.reports.html.session.view import StepFailure, StepRow
from runner.reports.html.words import seconds

_MOST_STEPS, _MOST_FAILING = 200, 200
_MARKS = {"done": "good", "missing": "bad", "failed": "warn", "skipped": "none"}


def steps_of(run: SessionRun, numbers: Mapping[str, int], shelf: Shelf) -> tuple[tuple[StepRow, ...], int]:
    """The first 200 steps, the last, and those at which something failed or that were not taken; how many are left out.

    ``numbers`` are the rows of failures by ID. Raises EvidenceAltered.
    """
    failing: dict[int, list[SeenFailure]] = {}
    for failure in run.failures:
        if failure.step is not None:
            failing.setdefault(failure.step, []).append(failure)
    told = [step for step in run.steps if step.index in failing or step.state in ("missing", "failed")][:_MOST_FAILING]
    shown = {step.index for step in (*run.steps[:_MOST_STEPS], *run.steps[-1:], *told)}
    rows = [_row(step, failing.get(step.index, []), numbers, shelf) for step in run.steps if step.index in shown]
    if -1 in failing:
        before = StepTaken(index=-1, kind="open", text="open the first page", state="done", started_ms=0.0,
                           ended_ms=0.0)
        rows.insert(0, _row(before, failing[-1], numbers, shelf))
    return tuple(rows), len(run.steps) - len(shown)


def _row(step: StepTaken, failures: list[SeenFailure], numbers: Mapping[str, int], shelf: Shelf) -> StepRow:
    name = next((failure.screenshot for failure in failures if failure.screenshot), step.screenshot)
    where = "before the first step" if step.index < 0 else f"at step {step.index}"
    return StepRow(
        index=step.index, kind=step.kind, text=step.text, state=step.state, mark=_MARKS.get(step.state, "warn"),
        started=moment(step.started_ms), took=seconds(max(0.0, step.ended_ms - step.started_ms) / 1000),
        detail=step.detail, picture=shelf.picture(name, f"The page {where}"),
        failures=tuple(StepFailure(numbers.get(failure.id, 0), failure.key, failure.count,
                                   moment(failure.at_ms) if failure.at_ms is not None else "", failure.known)
                       for failure in failures))


def moment(ms: float) -> str:
    """Since the first navigation: ``1.204 s``."""
    return seconds(max(0.0, ms) / 1000)
