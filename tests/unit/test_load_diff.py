"""Two runs of a scenario beside each other: what is worse, and what may be chance."""

from __future__ import annotations

from array import array
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from runner.reports.loads.compare import compare_loads
from runner.reports.loads.interval import change_interval, quantile
from runner.reports.loads.runs import LoadRun


def run(p95: float | None = 100.0, samples: int = 1000, verdict: str = "pass", spread: float = 1.0,
        **more: Any) -> LoadRun:
    draw = Random(int(p95 or 0) + samples)
    values = sorted(draw.uniform(0.0, 1.0) * spread + (p95 or 0.0) - 0.95 * spread for _ in range(samples))
    metrics: dict[str, Any] = {
        "iterations": 500.0, "http_reqs": float(samples), "http_reqs_per_second": 10.0,
        "http_req_duration_ms": {"samples": samples, "p95": p95}, "http_req_failed_rate": {"rate": 0.0},
        "by_operation": {"buy": {"p95": p95}}}
    whole = LoadRun(f"run_{verdict}", verdict, "0" * 64, 0, "k6 v1.1.0", [{"rate": 1}], {"held": verdict}, metrics,
                    array("d", [max(value, 0.0) for value in values]))
    return replace(whole, **more)


def test_a_run_is_no_worse_than_itself() -> None:
    found = compare_loads(run(), run(), 5.0)
    assert (found.verdict, found.reasons) == ("pass", ())
    assert found.document["performance"]["p95"]["status"] == "within_limit"


def test_a_regression_beyond_chance_fails() -> None:
    found = compare_loads(run(100.0), run(130.0), 20.0)
    assert found.verdict == "fail"
    assert found.document["performance"]["p95"]["status"] == "regression"
    assert found.reasons == ("p95 went from 100 to 130 ms, +30.0 %",)


def test_what_may_be_chance_is_no_regression() -> None:
    found = compare_loads(run(100.0, 220, spread=95.0), run(108.0, 220, spread=95.0), 5.0)
    assert found.verdict == "inconclusive"
    assert "by chance" in found.reasons[0]


@pytest.mark.parametrize(("field", "value", "named"), [
    ("scenario_sha256", "1" * 64, "scenario_sha256"), ("seed", 1, "seed"), ("engine", "k6 v2", "engine"),
    ("schedule", [], "resolved_schedule")])
def test_other_scenarios_are_not_comparable(field: str, value: Any, named: str) -> None:
    found = compare_loads(run(), replace(run(500.0), **{field: value}), 5.0)
    assert (found.verdict, found.document["incompatibilities"]) == ("inconclusive", [named])
    assert found.document["performance"]["p95"]["status"] == "incomparable"


def test_a_failure_of_the_candidate_is_named() -> None:
    found = compare_loads(run(), run(verdict="fail"))
    assert found.verdict == "fail"
    assert found.document["correctness"]["assertion_regressions"] == ["held"]
    assert found.document["correctness"]["regression"] is True


@pytest.mark.parametrize("verdict", ["inconclusive", "error"])
def test_a_candidate_that_says_nothing_decides_nothing(verdict: str) -> None:
    assert compare_loads(run(), run(verdict=verdict)).verdict == "inconclusive"


def test_less_work_than_the_baseline_is_doubtful() -> None:
    found = compare_loads(run(), run(samples=900))
    assert (found.verdict, found.reasons) == ("inconclusive", ("fewer http reqs than the baseline",))


def test_a_limit_needs_enough_requests() -> None:
    found = compare_loads(run(samples=199), run(samples=199), 5.0)
    assert (found.verdict, found.reasons) == ("inconclusive", ("a limit needs 200 requests on either side",))
    assert compare_loads(run(samples=199), run(samples=199)).verdict == "pass"


def test_no_latency_on_the_candidates_side() -> None:
    assert compare_loads(run(), run(None)).document["performance"]["p95"]["status"] == "unavailable"


def test_an_interval_holds_the_change_and_shrinks_with_samples() -> None:
    small, large = ((change_interval(run(100.0, count, spread=50.0).durations, run(110.0, count, spread=50.0).durations,
                                     0.95)) for count in (100, 10_000))
    assert small is not None
    assert large is not None
    assert small[0] < 10 < small[1]
    assert large[1] - large[0] < (small[1] - small[0]) / 4


def test_nothing_to_compare_has_no_interval() -> None:
    assert change_interval(array("d"), array("d", [1.0, 2.0]), 0.95) is None
    assert change_interval(array("d", [0.0, 0.0]), array("d", [1.0, 2.0]), 0.95) is None


def test_quantiles_are_interpolated() -> None:
    assert quantile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert quantile([7.0], 0.95) == 7.0
