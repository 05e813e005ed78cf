"""What several runs of a scenario come to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from runner.controller.loads.series import series_document
from runner.evidence.result import Result


def run(verdict: str, p95: float | None = 10.0, lifecycle: str = "finished", seed: int = 0) -> Result:
    metrics: dict[str, Any] = {"http_req_duration_ms": {"p95": p95}, "http_req_failed_rate": {"rate": 0.5},
                               "http_reqs_per_second": None}
    return cast("Result", SimpleNamespace(verdict=verdict, lifecycle=lifecycle, run_id=f"run_{seed}", seed=seed,
                                        metrics=metrics))


def document(*runs: Result, requested: int | None = None) -> dict[str, Any]:
    return series_document("series_1", 7, requested or len(runs), list(runs), same_seed=False)


@pytest.mark.parametrize(("verdicts", "worst"), [
    (["pass", "pass"], "pass"), (["pass", "inconclusive"], "inconclusive"), (["error", "inconclusive"], "error"),
    (["error", "fail", "pass"], "fail"), (["pass", "no_verdict"], "no_verdict")])
def test_the_worst_verdict_is_the_series(verdicts: list[str], worst: str) -> None:
    assert document(*(run(verdict) for verdict in verdicts))["verdict"] == worst


def test_runs_are_consistent_if_they_ended_alike() -> None:
    assert document(run("pass"), run("pass", 99.0))["consistent"] is True
    assert document(run("pass"), run("fail"))["consistent"] is False
    assert document(run("pass"), run("pass", lifecycle="timed_out"))["consistent"] is False


def test_spread_of_the_figures() -> None:
    spread = document(run("pass", 10.0), run("pass", 14.0), run("pass", None))["dispersion"]
    assert spread["p95_ms"] == {"min": 10.0, "max": 14.0, "mean": 12.0, "stdev": 2.828427}
    assert spread["http_req_failed_rate"]["stdev"] == 0.0
    assert spread["http_reqs_per_second"] is None
    assert document(run("pass"))["dispersion"]["p95_ms"]["stdev"] is None


def test_a_series_that_was_cut_short_says_so() -> None:
    found = document(run("pass"), requested=3)
    assert (found["requested_runs"], found["completed_runs"], found["lifecycle"]) == (3, 1, "cancelled")
