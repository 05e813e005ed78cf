"""Everything that keeps a load run from passing, each with its kind and a sentence. What the kinds weigh is decided by
the judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from runner.load.outcome import LoadOutcome
from runner.oracles.load.engine_exit import THRESHOLDS, explain, is_known
from runner.oracles.load.funnel import Funnel
from runner.oracles.load.model import AssertionRow, Events, Metrics
from runner.scenarios.model import Scenario

Kind = Literal[
    "assertion_failed", "threshold", "not_run", "fixture", "cleanup", "unreachable", "budget", "crashed", "stopped",
    "unexplained", "unknown", "delivery", "overlap", "undeclared", "malformed", "dropped", "survivors", "unfinished"]
"""``fixture``: it could not be made. ``cleanup``: it could not be removed. ``crashed``: k6 ended for a reason of its
own that is known; ``unexplained``: with a code that is not. ``stopped``: at its deadline, or by a person. ``unknown``:
an assertion that cannot be told. ``delivery``: journeys are missing or too many. ``dropped``: bytes beyond a cap."""

_NAMED = 5

_NOT_RUN = {"not_ready": "the application never answered", "refused": "the driver refused the job",
            "crashed": "the driver gave up"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    kind: Kind
    text: str


def find(scenario: Scenario, outcome: LoadOutcome, events: Events, metrics: Metrics,
         rows: tuple[AssertionRow, ...], undeclared: Mapping[str, int], stages: Funnel,
         artifact_bytes: int) -> list[Finding]:
    """All of them."""
    return [*_of_rows(rows), *_of_the_run(outcome, metrics), *_of_budgets(scenario, outcome, metrics, artifact_bytes),
            *_of_k6(outcome), *_of_the_load(scenario, outcome, metrics), *_of_names(undeclared, stages),
            *_of_files(outcome, events, metrics), *_of_ends(outcome, stages)]


def _of_rows(rows: tuple[AssertionRow, ...]) -> Iterator[Finding]:
    for row in rows:
        if row.status == "fail":
            yield Finding("assertion_failed", f"{row.id}: {row.reason}")
        elif row.status == "unknown":
            yield Finding("unknown", f"{row.id}: {row.reason}")


def _of_the_run(outcome: LoadOutcome, metrics: Metrics) -> Iterator[Finding]:
    if outcome.state != "done":
        detail = f": {outcome.detail}" if outcome.detail else ""
        yield Finding("not_run", f"{_NOT_RUN.get(outcome.state, outcome.state)}{detail}")
    # k6 runs only once every fixture is made, so after a full run it is the clean-up that failed.
    kind: Kind = "cleanup" if outcome.lifecycle == "finished" else "fixture"
    yield from (Finding(kind, failure) for failure in outcome.fixture_failures)
    if outcome.cleaned is False and not outcome.fixture_failures:
        yield Finding("cleanup", "what the run made was not removed")
    if metrics.unreachable:
        yield Finding("unreachable", f"the application was not reached: none of {metrics.requests} requests got any"
                                     " HTTP answer")


def _of_budgets(scenario: Scenario, outcome: LoadOutcome, metrics: Metrics, artifact_bytes: int) -> Iterator[Finding]:
    budgets, own = scenario.budgets, outcome.fixture_requests + outcome.observer_requests
    for name, used, allowed in (
            ("max_requests", metrics.requests + own, budgets.max_requests),
            ("max_write_attempts", metrics.writes + outcome.fixture_writes, budgets.max_write_attempts),
            ("max_in_flight", max(metrics.vus_max, metrics.in_flight_peak), budgets.max_in_flight),
            ("max_artifact_bytes", artifact_bytes, budgets.max_artifact_bytes)):
        if used > allowed:
            yield Finding("budget", f"the budget {name} was exceeded: {used} of {allowed}")


def _of_k6(outcome: LoadOutcome) -> Iterator[Finding]:
    """How k6 ended. A run that was never begun has been told of already."""
    engine = outcome.engine
    if engine is not None and engine.exit_code == THRESHOLDS:
        yield Finding("threshold", "k6: a threshold of the script was crossed (exit code 99)")
    if engine is not None and engine.survivors:
        yield Finding("survivors", "processes of k6 were still there after the last kill")
    if outcome.state != "done":
        return
    if outcome.lifecycle in ("timed_out", "cancelled"):
        words = f"the load was {outcome.lifecycle.replace('_', ' ')}"
        yield Finding("stopped", f"{words}: {outcome.detail}" if outcome.detail else words)
    elif outcome.lifecycle == "crashed" and not _never_begun(outcome):
        kind: Kind = "crashed" if engine is None or is_known(engine) or engine.exit_code is None else "unexplained"
        yield Finding(kind, (explain(engine) if engine is not None else "") or outcome.detail or "k6 did not finish")


def _never_begun(outcome: LoadOutcome) -> bool:
    """Whether a fixture that failed kept k6 from starting."""
    engine = outcome.engine
    return bool(outcome.fixture_failures) and (
        engine is None or (engine.exit_code is None and engine.signal is None))


def _of_the_load(scenario: Scenario, outcome: LoadOutcome, metrics: Metrics) -> Iterator[Finding]:
    """What k6 did not do as planned."""
    planned = scenario.planned_journeys
    if metrics.dropped_iterations:
        yield Finding("delivery", f"k6 dropped {metrics.dropped_iterations} journeys:"
                                  f" {scenario.budgets.max_in_flight} in flight were not enough")
    if outcome.state == "done" and metrics.iterations != planned:
        yield Finding("delivery", f"{metrics.iterations} of {planned} planned journeys were delivered")
    for journey in scenario.journeys:
        for operation, least in journey.min_overlap.items():
            most = metrics.overlap.get(operation, 0)
            if most < least:
                yield Finding("overlap", f"{operation}: at most {most} requests overlapped, {least} are wanted")


def _of_names(undeclared: Mapping[str, int], stages: Funnel) -> Iterator[Finding]:
    for what, names in (("samples and stages that the manifest does not declare", undeclared),
                        ("stages that several journeys declare", stages.unattributable)):
        if names:
            told = [f"{name[:80]} ({count})" for name, count in sorted(names.items(), key=lambda item: -item[1])]
            more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
            yield Finding("undeclared", f"{what}: {', '.join(told[:_NAMED])}{more}")


def _of_files(outcome: LoadOutcome, events: Events, metrics: Metrics) -> Iterator[Finding]:
    if events.malformed:
        foreign = f", {events.foreign} of them of other runs" if events.foreign else ""
        yield Finding("malformed", f"{events.malformed} LT_EVENT lines break a rule{foreign}; the first one"
                                   f" {events.first_fault}")
    if metrics.malformed:
        yield Finding("malformed", f"{metrics.malformed} lines of k6's metrics cannot be read")
    for name, count in outcome.dropped:
        if count:
            yield Finding("dropped", f"{name}: {count} bytes beyond its cap were dropped")


def _of_ends(outcome: LoadOutcome, stages: Funnel) -> Iterator[Finding]:
    if outcome.lifecycle == "finished":
        for journey, stage in stages.unfinished:
            yield Finding("unfinished", f"{journey}: no journey reached its last stage, {stage}")
