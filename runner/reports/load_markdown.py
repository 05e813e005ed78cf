"""What Markdown shows of a load run: assertions with samples that failed, figures, operations, journeys, budgets, where
it ran.

Tables hold hostile texts in code only, as all of :mod:`runner.reports.markdown` does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from runner.evidence.load_record import LoadRecord
from runner.evidence.result import Result
from runner.reports.tables import bounded, listed, table

_MOST = 50


def assertion_table(result: Result) -> Iterator[str]:
    """A row for each declared assertion: what failed comes first."""
    order = ["fail", "unknown", "pass"]
    rows = [(row.id, row.status, str(row.samples), row.reason)
            for row in sorted(result.assertions or (), key=lambda row: order.index(row.status))]
    yield from bounded(("Assertion", "Status", "Samples", "Why"), rows, _MOST, "assertions")


def load_parts(result: Result, load: LoadRecord) -> tuple[Iterator[str], ...]:
    """The sections that only load runs have, in order; empty ones yield nothing."""
    return (_samples(result), _load(result, load), _operations(result.metrics or {}), _journeys(result),
            _budgets(result, load), _where(result, load))


def _samples(result: Result) -> Iterator[str]:
    rows = [(row.id, *(_short(sample.get(name)) for name in ("logical_key", "expected", "actual", "detail")))
            for row in result.assertions or () for sample in row.failures]
    rows += [(row.id, "final state", _short(row.expected), _short(row.actual), "") for row in result.assertions or ()
             if row.status == "fail" and row.expected is not None]
    if rows:
        yield "## Samples that failed"
        yield ""
        yield from bounded(("Assertion", "Journey", "Expected", "Seen", "Detail"), rows, _MOST, "samples")


def _load(result: Result, load: LoadRecord) -> Iterator[str]:
    metrics = result.metrics or {}
    yield "## Load"
    yield ""
    yield from table(("What", "Value"), [
        ("journeys", f"{_number(metrics.get('iterations'))} of {result.planned_journeys or 0} planned"),
        ("schedule", ", ".join(f"{phase.name} {phase.seconds} s at {phase.rate}/s" for phase in load.schedule)),
        ("evidence", result.completeness or "none"), ("k6 ended", result.lifecycle or "did not run"),
        *((name, _shown(metrics[key])) for key, name in _FIGURES.items() if key in metrics)])
    yield from listed("Limitations", result.limitations or ())
    yield from listed("Fixtures that failed", load.fixture_failures)


_FIGURES = {"http_reqs": "requests", "http_req_duration_ms": "latency (ms)", "iteration_duration_ms": "journeys (ms)",
            "http_req_failed_rate": "failed", "unexpected_http_failure_rate": "failed unexpectedly",
            "http_reqs_per_second": "requests a second", "in_flight_peak": "peak in flight",
            "dropped_iterations": "dropped journeys", "arrival_error_ms": "late or early (ms)"}


def _operations(metrics: Mapping[str, Any]) -> Iterator[str]:
    found = metrics.get("by_operation")
    rows = [(name, *(_number(row.get(key)) for key in ("samples", "p50", "p95", "p99", "max", "failed_rate")))
            for name, row in (found.items() if isinstance(found, dict) else ()) if isinstance(row, dict)]
    if rows:
        yield "## Operations"
        yield ""
        yield from bounded(("Operation", "Requests", "p50 (ms)", "p95 (ms)", "p99 (ms)", "Max (ms)", "Failed"), rows,
                           _MOST, "operations")


def _journeys(result: Result) -> Iterator[str]:
    rows = []
    for name, found in (result.journeys or {}).items():
        steps = found if isinstance(found, dict) else {}
        rows.append((name, "started", _number(steps.get("started")), ""))
        stalled = {stage.get("after"): stage.get("count") for stage in _rows(steps.get("stalled"))
                   if isinstance(stage.get("after"), str)}
        rows += [(name, str(stage.get("name")), _number(stage.get("reached")),
                  _number(stalled.get(str(stage.get("name"))))) for stage in _rows(steps.get("stages"))]
    if rows:
        yield "## Journeys"
        yield ""
        yield from bounded(("Journey", "Stage", "Reached", "Stopped after it"), rows, _MOST, "stages")


def _rows(found: object) -> list[dict[str, Any]]:
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _budgets(result: Result, load: LoadRecord) -> Iterator[str]:
    metrics = result.metrics or {}
    used = {"max_seconds": "elapsed_seconds", "max_requests": "total_http_reqs", "max_write_attempts": "write_attempts",
            "max_in_flight": "vus_max"}
    yield "## Budgets"
    yield ""
    yield from table(("Budget", "Used", "Allowed"), [
        (name, _number(metrics.get(used.get(name, ""))), str(allowed)) for name, allowed in load.budgets.items()])


def _where(result: Result, load: LoadRecord) -> Iterator[str]:
    yield "## Scenario"
    yield ""
    yield from table(("What", "Value"), [
        ("scenario", load.scenario), ("directory", load.directory), ("seed", str(result.seed)),
        ("scenario_sha256", load.scenario_sha256), ("fingerprint", load.scenario_fingerprint),
        ("application", load.target_command or "runs elsewhere"), ("URL", load.target), ("started when", load.ready),
        ("k6", load.engine or "did not run"), ("k6's image", f"{load.driver_image.used_id} ({load.driver_image.name})"),
        ("k6's policy", f"{load.driver_policy.name} {load.driver_policy.sha256}"),
        *((f"file {file.name}", f"{file.bytes} bytes, sha256 {file.sha256}") for file in load.files[:_MOST])])


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_number(item)}" for name, item in value.items())
    return _number(value)


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else _short(value)
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _short(value: object) -> str:
    """A value of a script's as JSON; a text as it is."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
