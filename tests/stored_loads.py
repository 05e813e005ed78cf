"""Stored evidence of a load run without k6: a replay over the fake backend, made one of a scenario."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from stored_runs import FAILS, make_evidence

from runner.evidence.check import Evidence
from runner.evidence.load_record import AssertionRecord, LoadRecord, PhaseRecord
from runner.evidence.parts import ImageRecord
from runner.evidence.session_record import FileRecord, TargetRecord

STEPS = 90
OPERATIONS = {"browse": 14.0, "add-to-cart": 22.0, "redeem": 48.0}
PLANNED = [1.0] * 30 + [6.0] * 30 + [1.0] * 30
TIMELINE: dict[str, Any] = {
    "bucket_seconds": 1.0, "start_seconds": -1.0, "planned": PLANNED,
    "iterations": [int(rate) - (step == 45) for step, rate in enumerate(PLANNED)],
    "requests": [int(rate) * 5 + step % 3 for step, rate in enumerate(PLANNED)],
    "in_flight": [round(rate * (0.3 + 0.02 * (step % 5)) + (3 if 40 < step < 60 else 0), 3)
                  for step, rate in enumerate(PLANNED)],
    "open_requests": [0.5] * STEPS,
    "failures": [max(0, step - 50) if step < 60 else 0 for step in range(STEPS)],
    "operations": {
        name: {share: [None if step % 30 == 7 else
                       round(base * factor * (1 + 0.2 * math.sin(step)) * (4 if 42 < step < 60 else 1), 3)
                       for step in range(STEPS)]
               for share, factor in (("p50", 1.0), ("p95", 2.1), ("p99", 3.0))}
        for name, base in OPERATIONS.items()},
    "outside": 0}
METRICS: dict[str, Any] = {
    "iterations": 239.0, "http_reqs": 1289.0, "dropped_iterations": 1.0, "write_attempts": 480, "vus_max": 8,
    "http_req_duration_ms": {"samples": 1289, "average": 31.25, "p50": 21.4, "p95": 184.02, "p99": 402.7, "max": 611.9},
    "iteration_duration_ms": {"samples": 239, "p50": 130.0, "p95": 702.4, "p99": 910.1, "max": 1204.5},
    "http_req_failed_rate": {"samples": 1289, "failed": 45, "rate": 0.034911, "transport": 3},
    "unexpected_http_failure_rate": {"samples": 1289, "failed": 5, "rate": 0.003879},
    "by_operation": {
        "add-to-cart": {"samples": 480, "p50": 22.0, "p95": 46.2, "p99": 66.0, "max": 91.2, "failed_rate": 0.010417},
        "browse": {"samples": 570, "p50": 14.0, "p95": 29.4, "p99": 42.0, "max": 58.1, "failed_rate": 0.0},
        "redeem": {"samples": 239, "p50": 48.0, "p95": 402.1, "p99": 540.0, "max": 611.9, "failed_rate": 0.167364}},
    "overlap": {"add-to-cart": 4, "browse": 3, "redeem": 6}, "in_flight_peak": 7, "observer_requests": 4,
    "fixture_requests": 2, "total_http_reqs": 1295, "elapsed_seconds": 93.412, "iterations_per_second": 2.66,
    "http_reqs_per_second": 14.32,
    "arrival_error_ms": {"samples": 239, "p50": 0.41, "p95": 2.9, "max": 11.2, "matched": "nearest"}}
JOURNEYS: dict[str, Any] = {
    "checkout": {"started": 239, "undeclared": ["surprise"],
                 "stages": [{"name": "cart_filled", "reached": 236}, {"name": "coupon_redeemed", "reached": 201},
                            {"name": "order_paid", "reached": 197}],
                 "stalled": [{"after": "start", "count": 3}, {"after": "cart_filled", "count": 35},
                             {"after": "coupon_redeemed", "count": 4}]}}
FAILURES = tuple({"sequence": 200 + number, "logical_key": f"run_1-traffic-{number}", "expected": {"used": 10},
                  "actual": {"used": 10 + number}, "detail": "one coupon too many"} for number in range(1, 4))
ASSERTIONS = (
    AssertionRecord(id="answer-known", status="pass", samples=239),
    AssertionRecord(id="coupon-limit-held", status="fail", samples=239, failures=FAILURES,
                    reason="4 of 239 samples failed"),
    AssertionRecord(id="stock-consistent", status="fail", samples=1, expected={"/stock/left": {"gte": 0}},
                    actual={"/stock/left": -3}, reason="the final state differs at /stock/left"),
    AssertionRecord(id="order-paid-once", status="unknown", samples=236, reason="partial: 236 of 239 journeys"))
OBSERVATIONS: list[dict[str, Any]] = [
    {"assertion": "stock-consistent", "status": "fail", "attempts": 5, "elapsed_seconds": 4.02,
     "expected": {"/stock/left": {"gte": 0}}, "actual": {"/stock/left": -3}, "checks": {
         "/stock/left": {"matcher": {"gte": 0}, "actual": -3, "pass": False, "reason": "-3 is less than 0"},
         "": {"matcher": {"exists": True}, "actual": True, "pass": True}}},
    {"assertion": "order-paid-once", "status": "unknown", "reason": "GET /orders: the answer was 500, not 200"}]
FIXTURE: dict[str, Any] = {
    "create": {"status": "created", "fixture_id": "shop-17", "requests": 1},
    "cleanup": {"status": "error", "reason": "DELETE /shops/shop-17 answered 500", "requests": 1}}
REASONS = ("coupon-limit-held: 4 of 239 samples failed", "stock-consistent: the final state differs at /stock/left",
           "the fixture was not removed: DELETE /shops/shop-17 answered 500")
BUDGETS = {"max_seconds": 210, "max_requests": 2400, "max_write_attempts": 470, "max_in_flight": 8,
           "max_artifact_bytes": 64 << 20}
MAXIMA = {"requests": 1686, "writes": 722, "scheduled_seconds": 90, "fixture_seconds": 10, "observation_seconds": 10,
          "seconds": 112}


def make_load(place: Path, *, timeline: object = TIMELINE, files: dict[str, bytes] | None = None,
              **fields: Any) -> Evidence:
    """Evidence of a failed run, whose directory holds timeline, observations and fixture. ``fields`` replace those of
    the result; ``timeline`` may be the bytes of the file.
    """
    evidence = make_evidence(place, (FAILS,))
    kept = {"timeline.json": timeline if isinstance(timeline, bytes) else json.dumps(timeline).encode(),
            "observation.json": json.dumps(OBSERVATIONS).encode(), "fixture.json": json.dumps(FIXTURE).encode(),
            "console.log": b"LT_EVENT {}\n", "metrics.jsonl": b"{}\n" * 2000,
            "engine.stdout.log": b"     iterations......: 239\n", "engine.stderr.log": b"", **(files or {})}
    for name, data in kept.items():
        (evidence.directory / name).write_bytes(data)
    result, first = evidence.result, evidence.result.samples[0]
    load = LoadRecord(
        scenario="checkout", directory="/home/user/scenarios/checkout", scenario_sha256="7c" * 32,
        scenario_fingerprint="5e" * 32, target="http://127.0.0.1:8000", target_command="python3 server.py --careless",
        ready="GET /health answers below 500 within 30 s", engine="k6 v1.1.0 (go1.24.4, linux/amd64)",
        schedule=tuple(PhaseRecord(name=name, seconds=30, rate=rate)
                       for name, rate in (("calm", 1), ("rush", 6), ("recovery", 1))),
        budgets=BUDGETS, maxima=MAXIMA, driver_image=ImageRecord(**result.image.model_dump()) if result.image else None,
        driver_policy=result.policy, undeclared={"typo-in-name": 4},
        fixture_failures=("the fixture was not removed: DELETE /shops/shop-17 answered 500",), cleaned=False,
        files=tuple(FileRecord(name=name, bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
                    for name, data in kept.items()))
    target = TargetRecord(cause="stopped", returncode=None, wall_seconds=94.0, output_sha256="", stdout=first.stdout,
                          stderr=first.stderr, workspace="/workspace")
    plain: dict[str, Any] = {
        "verdict": "fail", "exit_code": 1, "ok": False, "reproduced": False, "reasons": REASONS,
        "oracle_mode": "load", "mode": "verify", "seed": 7, "planned_journeys": 240,
        "planned_journeys_per_second": 2.667, "lifecycle": "finished", "engine_exit_code": 0,
        "finished_at": "2026-12-01T10:00:00Z", "completeness": "incomplete", "assertions": ASSERTIONS,
        "metrics": METRICS, "limitations": ("1 journey of 240 was dropped",), "notes": ("Overlap is what k6 saw.",),
        "journeys": JOURNEYS, "load": load, "command": load.target_command,
        "samples": (first.model_copy(update={"target": target}),)}
    return replace(evidence, result=result.model_copy(update={**plain, **fields}))
