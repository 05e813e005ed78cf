"""``runner diff``: a candidate beside its baseline. Rules and names of the document are LiteTraffic's, but for noise: a
slower p95 is a regression only if its confidence interval lies beyond the limit as a whole. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from runner.errors import ExitCode
from runner.reports.loads.interval import METHOD, change_interval
from runner.reports.loads.runs import LoadRun

LEAST_SAMPLES = 200
"""So many requests on either side make a p95 worth a limit."""
_P95 = 0.95

Outcome = Literal["pass", "fail", "inconclusive"]
EXIT_CODES = {"pass": ExitCode.OK, "fail": ExitCode.NOT_REPRODUCED, "inconclusive": ExitCode.NO_VERDICT}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome, why, and the whole document."""

    verdict: Outcome
    reasons: tuple[str, ...]
    document: dict[str, Any]


def compare_loads(baseline: LoadRun, candidate: LoadRun, max_p95_regression_percent: float | None = None) -> Comparison:
    """Compare. The limit is in percent of the baseline's p95; ``None``: the change is told, and decides nothing."""
    apart = _incompatibilities(baseline, candidate)
    p95 = _p95(baseline, candidate, max_p95_regression_percent, comparable=not apart)
    failures, doubts = [], [f"not comparable: another {what}" for what in apart]
    lost = [name for name, status in candidate.assertions.items()
            if status == "fail" and baseline.assertions.get(name) == "pass"]
    if candidate.verdict == "fail":
        failures.append("the candidate's verdict is fail" + (f": {', '.join(lost)}" if lost else ""))
    elif candidate.verdict != "pass":
        doubts.append(f"the candidate's verdict is {candidate.verdict}")
    if p95["status"] == "regression":
        failures.append(f"p95 went from {p95['baseline']:g} to {p95['candidate']:g} ms, {p95['change_percent']:+.1f} %")
    elif p95["status"] in ("inconclusive", "unavailable"):
        doubts.append(p95["reason"])
    progress = {name: {"baseline": _at(baseline.metrics, name), "candidate": _at(candidate.metrics, name)}
                for name in ("iterations", "http_reqs")}
    doubts += [f"fewer {name.replace('_', ' ')} than the baseline" for name, pair in progress.items()
               if (pair["candidate"] or 0) < (pair["baseline"] or 0)]
    verdict: Outcome = "inconclusive" if apart else "fail" if failures else "inconclusive" if doubts else "pass"
    return Comparison(verdict, (*failures, *doubts), {
        "schema_version": 1, "baseline_run_id": baseline.run_id, "candidate_run_id": candidate.run_id,
        "comparable": not apart, "incompatibilities": apart, "verdict": verdict, "reasons": [*failures, *doubts],
        "correctness": {"baseline": baseline.verdict, "candidate": candidate.verdict,
                        "regression": baseline.verdict == "pass" and candidate.verdict == "fail",
                        "assertion_regressions": lost,
                        "no_longer_known": [name for name, status in candidate.assertions.items()
                                            if status == "unknown" and baseline.assertions.get(name) == "pass"]},
        "progress": progress, "performance": {"p95": p95, **_figures(baseline, candidate)}})


def _incompatibilities(baseline: LoadRun, candidate: LoadRun) -> list[str]:
    pairs = {"scenario_sha256": (baseline.scenario_sha256, candidate.scenario_sha256),
             "seed": (baseline.seed, candidate.seed), "engine": (baseline.engine, candidate.engine),
             "resolved_schedule": (baseline.schedule, candidate.schedule)}
    return [name for name, (one, other) in pairs.items() if one != other]


def _p95(baseline: LoadRun, candidate: LoadRun, limit: float | None, *, comparable: bool) -> dict[str, Any]:
    before, after = (_at(run.metrics, "http_req_duration_ms", "p95") for run in (baseline, candidate))
    found: dict[str, Any] = {"baseline": before, "candidate": after, "max_regression_percent": limit}
    if not comparable:
        return {**found, "status": "incomparable"}
    if after is None or before is None or before <= 0:
        needed = limit is not None or after is None
        return {**found, "status": "unavailable" if needed else "reported", "reason": "there is no p95 on both sides"}
    change = (after / before - 1) * 100
    interval = change_interval(baseline.durations, candidate.durations, _P95)
    few = min(_samples(baseline), _samples(candidate)) < LEAST_SAMPLES
    return {**found, "change_percent": round(change, 3), "interval_percent": list(interval) if interval else None,
            "interval_method": METHOD, **_against(limit, change, interval[0] if interval else change, few=few)}


def _against(limit: float | None, change: float, low: float, *, few: bool) -> dict[str, str]:
    """The change against the limit. ``low`` is the least that it may be by chance."""
    if limit is None:
        return {"status": "reported"}
    if few:
        return {"status": "inconclusive", "reason": f"a limit needs {LEAST_SAMPLES} requests on either side"}
    if change <= limit:
        return {"status": "within_limit"}
    if low <= limit:
        return {"status": "inconclusive", "reason": f"p95 is {change:+.1f} %, and by chance it could be {low:+.1f} %: "
                                                    "more requests would tell"}
    return {"status": "regression"}


def _figures(baseline: LoadRun, candidate: LoadRun) -> dict[str, Any]:
    rows = {"http_error_rate": ("http_req_failed_rate", "rate"), "http_reqs_per_second": ("http_reqs_per_second",),
            "unexpected_http_error_rate": ("unexpected_http_failure_rate", "rate")}
    figures = {name: {"baseline": _at(baseline.metrics, *path), "candidate": _at(candidate.metrics, *path)}
               for name, path in rows.items()}
    names = sorted({*_operations(baseline), *_operations(candidate)})[:100]
    return {**figures, "by_operation": {
        name: {"baseline_p95": _at(_operations(baseline), name, "p95"),
               "candidate_p95": _at(_operations(candidate), name, "p95")} for name in names}}


def _operations(run: LoadRun) -> dict[str, Any]:
    found = run.metrics.get("by_operation")
    return found if isinstance(found, dict) else {}


def _samples(run: LoadRun) -> float:
    return _at(run.metrics, "http_req_duration_ms", "samples") or 0


def _at(document: dict[str, Any], *path: str) -> float | None:
    found: Any = document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
