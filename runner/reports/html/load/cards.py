"""A load run in a few words, its figures, its schedule, and where it ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.evidence.load_record import LoadRecord
from runner.evidence.result import Result
from runner.reports.html.facts import Fact
from runner.reports.html.load.values import at, inner, milliseconds, parts, share, whole
from runner.reports.html.session.view import Grid

_MOST = 200
_LIFECYCLES = {"finished": "finished", "timed_out": "stopped at its deadline", "cancelled": "interrupted",
               "crashed": "ended early"}


def cards_of(result: Result, load: LoadRecord) -> tuple[Fact, ...]:
    """The head of the page."""
    rows, metrics = result.assertions or (), result.metrics or {}
    held = sum(1 for row in rows if row.status == "pass")
    said = [("Scenario", load.scenario), ("Seed", str(result.seed)),
            ("Assertions", f"{held:,} of {len(rows):,} hold"),
            ("Journeys", f"{whole(at(metrics, 'iterations'))} of {result.planned_journeys or 0:,}"),
            ("Requests", whole(at(metrics, "http_reqs"))),
            ("p95", milliseconds(at(metrics, "http_req_duration_ms", "p95"))),
            ("Failed requests", share(at(metrics, "http_req_failed_rate", "rate"))),
            ("Evidence", result.completeness or "none"),
            ("k6", _LIFECYCLES.get(result.lifecycle or "", "did not run"))]
    return tuple(Fact(name, (value,)) for name, value in said)


def figures_of(metrics: Mapping[str, Any]) -> tuple[Fact, ...]:
    """What was measured over all operations, as far as it is there."""
    return tuple(Fact(name, (value,), note=note) for name, value, note in _figures(metrics) if value is not None)


def _figures(metrics: Mapping[str, Any]) -> Iterator[tuple[str, str | None, str]]:
    yield "Latency of requests", _latency(metrics.get("http_req_duration_ms")), ""
    yield "Time of journeys", _latency(metrics.get("iteration_duration_ms")), ""
    yield "Requests a second", _shown(at(metrics, "http_reqs_per_second")), "over k6's own time"
    yield "Journeys a second", _shown(at(metrics, "iterations_per_second")), "over k6's own time"
    yield "Failed", _failed(metrics.get("http_req_failed_rate")), "a status of 400 or more, or no answer"
    yield "Failed unexpectedly", _failed(metrics.get("unexpected_http_failure_rate")), "without the expected statuses"
    yield "Dropped journeys", _shown(at(metrics, "dropped_iterations") or None), "k6 had no free virtual user"
    yield "Peak in flight", _shown(at(metrics, "in_flight_peak")), "journeys open at once"
    late = metrics.get("arrival_error_ms")
    if parts(late):
        how = "one by one" if inner(late, "matched") == "order" else "each with the nearest moment of the plan"
        told = ", ".join(f"{name} {milliseconds(at(late, name))}" for name in ("p50", "p95", "max"))
        yield "Late or early", told, f"starts of journeys against the schedule, {how}"


def _latency(found: object) -> str | None:
    if not at(found, "samples"):
        return None
    return ", ".join(f"{name} {milliseconds(at(found, name))}" for name in ("average", "p50", "p95", "p99", "max")
                     if at(found, name) is not None)


def _failed(found: object) -> str | None:
    if at(found, "samples") is None:
        return None
    text = f"{whole(at(found, 'failed'))} of {whole(at(found, 'samples'))} ({share(at(found, 'rate'))})"
    transport = at(found, "transport")
    return text if not transport else f"{text}; {whole(transport)} of them without an answer"


def _shown(value: float | None) -> str | None:
    return None if value is None else whole(value)


def operations_of(metrics: Mapping[str, Any]) -> Grid:
    """A row for each operation."""
    overlap = metrics.get("overlap")
    rows = [(name, whole(at(found, "samples")),
             *(milliseconds(at(found, key)) for key in ("p50", "p95", "p99", "max")),
             share(at(found, "failed_rate")), whole(at(overlap, name)))
            for name, found in parts(metrics.get("by_operation")).items()]
    return Grid("Requests by operation, the tag that the script gives them",
                ("Operation", "Requests", "p50", "p95", "p99", "Max", "Failed", "At once"), tuple(rows[:_MOST]),
                max(0, len(rows) - _MOST))


def schedule_of(load: LoadRecord) -> Grid:
    """The phases, as the seed resolved them."""
    rows, begin = [], 0
    for phase in load.schedule:
        rows.append((phase.name, f"{begin:,} s", f"{phase.seconds:,} s", f"{phase.rate:,}",
                     f"{phase.seconds * phase.rate:,}"))
        begin += phase.seconds
    return Grid("The schedule, as the seed resolved it", ("Phase", "From", "Lasts", "Journeys a second", "Journeys"),
                tuple(rows[:_MOST]), max(0, len(rows) - _MOST))


def environment_of(result: Result, load: LoadRecord) -> tuple[Fact, ...]:
    """Scenario, application, k6 and where it ran."""
    image, policy = load.driver_image, load.driver_policy
    code = "the process was ended by a signal" if result.engine_exit_code is None else str(result.engine_exit_code)
    return (Fact("Scenario", (load.directory,), "code"),
            Fact("scenario_sha256", (load.scenario_sha256,), "code", "LiteTraffic's digest"),
            Fact("Scenario's fingerprint", (load.scenario_fingerprint,), "code", "of every file that k6 could read"),
            Fact("Application", (load.target_command,), "code") if load.target_command is not None else
            Fact("Application", ("ran elsewhere",)),
            Fact("URL", (load.target,), "code"), Fact("Ready when", (load.ready,)),
            Fact("k6", (load.engine or "did not run",), note=f"exit code {code}" if load.engine else ""),
            Fact("k6's image", (image.used_id,), "code", image.name or "unnamed"),
            Fact("k6's policy", (policy.sha256,), "code", policy.name),
            Fact("k6's seccomp profile", (policy.seccomp_sha256,), "code"))
