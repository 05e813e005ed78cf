"""k6's points to the metrics document: a real sample, a naive reference, and hostile files."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from load_oracle_samples import DATA, METRICS, PASSED, SCENARIO, point, request

from runner.oracles.load.metrics import aggregate, with_outcome
from runner.oracles.load.operations import MOST_OPERATIONS
from tests.bench.load_metrics import k6_lines, scenario

REAL = DATA / "metrics" / "k6-1.1.0.jsonl"


def percentile(values: Sequence[float], share: float) -> float:
    ordered, place = sorted(values), (len(values) - 1) * share
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
    return low + (high - low) * (place - int(place))


def durations(values: Sequence[float]) -> dict[str, Any]:
    shares = {f"p{share:.0f}": round(percentile(values, share / 100), 3) for share in (50, 95, 99)}
    return {"samples": len(values), **shares, "max": round(max(values), 3)}


def most_open(spans: Sequence[tuple[float, float]]) -> int:
    """By a sweep over all starts and ends, ends first."""
    edges = [edge for start, end in spans if start < end for edge in ((start, 1), (end, -1))]
    count = most = 0
    for _, step in sorted(edges):
        count += step
        most = max(most, count)
    return most


def moment(text: str) -> float:
    """Python reads six decimals, and k6 writes nine or fewer."""
    seconds, _, fraction = text.removesuffix("Z").partition(".")
    whole = datetime.fromisoformat(seconds).replace(tzinfo=UTC)
    return (whole + timedelta(microseconds=round(float(f"0.{fraction or 0}") * 1e6))).timestamp()


def naive(lines: Sequence[bytes]) -> dict[str, Any]:
    """The document's main part, with everything in memory."""
    points = [found for found in map(json.loads, lines) if found["type"] == "Point"]

    def of(metric: str) -> list[tuple[float, dict[str, str], float]]:
        return [(each["data"]["value"], each["data"]["tags"] or {},
                 moment(each["data"]["time"]))
                for each in points if each["metric"] == metric]

    requests, timed, judged = of("http_reqs"), of("http_req_duration"), of("http_req_failed")
    names = sorted({tags.get("operation", "_untagged") for _, tags, _ in [*timed, *judged]})

    def named(rows: list[tuple[float, dict[str, str], float]], name: str) -> list[tuple[float, float]]:
        return [(value, at) for value, tags, at in rows if tags.get("operation", "_untagged") == name]

    return {
        "iterations": float(len(of("iterations"))), "http_reqs": float(len(requests)),
        "dropped_iterations": sum(value for value, _, _ in of("dropped_iterations")),
        "write_attempts": sum(tags.get("method") in ("POST", "PUT", "PATCH", "DELETE") for _, tags, _ in requests),
        "vus_max": max((int(value) for value, _, _ in of("vus_max")), default=0),
        "http_req_duration_ms": {"average": round(math.fsum(row[0] for row in timed) / len(timed), 3),
                                 **durations([row[0] for row in timed])},
        "by_operation": {name: {**durations([value for value, _ in named(timed, name)]),
                                "failed_rate": round(sum(value for value, _ in named(judged, name))
                                                     / len(named(judged, name)), 6)} for name in names},
        "overlap": {name: most_open([(at - value / 1000, at) for value, at in named(timed, name)]) for name in names}}


def assert_as_naive(lines: Sequence[bytes]) -> None:
    document, expected = aggregate(lines, SCENARIO).document, naive(lines)
    assert document["overlap"].pop("book", 0) == expected["overlap"].pop("book", 0)  # declared, so always there
    assert {name: document[name] for name in expected} == expected


def test_what_k6_really_writes() -> None:
    lines = REAL.read_bytes().splitlines(keepends=True)
    assert_as_naive(lines)
    found = aggregate(lines, SCENARIO)
    declarations = sum(b'"type":"Metric"' in each for each in lines)
    assert (found.points, found.malformed) == (len(lines) - declarations, 0)
    assert (found.iterations, found.requests, found.writes, found.vus_max, found.unreachable) == (8, 17, 8, 8, False)
    assert found.document["writes_by_method"] == {"POST": 8}
    arrivals = found.document["arrival_error_ms"]
    assert (arrivals["samples"], arrivals["matched"]) == (8, "order")
    assert arrivals["p50"] < 20
    assert json.loads(json.dumps(found.document, allow_nan=False)) == found.document


REQUESTS = st.lists(st.tuples(
    st.integers(0, 4000), st.integers(0, 3_000_000), st.sampled_from(["book", "look", None]),
    st.sampled_from(["GET", "POST", "DELETE"]), st.booleans()), min_size=1, max_size=60)


@given(REQUESTS)
def test_as_the_naive_way(rows: list[tuple[int, int, str | None, str, bool]]) -> None:
    lines = [each for at, duration, operation, method, failed in rows
             for each in request(at / 100, duration / 1000, operation, method=method, failed=failed)]
    assert_as_naive(lines)


def test_failures_transport_and_the_unexpected() -> None:
    lines = [*request(1, 5, "book", status="409", failed=True), *request(1, 5, "book", status="500", failed=True),
             *request(1, 5, "look", status="0", failed=True), *request(1, 5, "look", status="409", failed=True),
             *request(1, 5, "book")]
    found = aggregate(lines, SCENARIO)
    assert found.document["http_req_failed_rate"] == {"samples": 5, "failed": 4, "rate": 0.8, "transport": 1}
    assert found.document["unexpected_http_failure_rate"] == {"samples": 5, "failed": 3, "rate": 0.6}
    assert not found.unreachable


def test_without_expected_statuses_nothing_is_said_of_the_unexpected() -> None:
    assert "unexpected_http_failure_rate" not in aggregate(k6_lines(2), METRICS_ONLY).document


METRICS_ONLY = scenario(1)
METRICS_ONLY.journeys[0].expected_statuses.clear()


@pytest.mark.parametrize(("lines", "unreachable"), [
    ([], False), (request(1, 0, status="0", failed=True) * 3, True),
    ([*request(1, 0, status="0", failed=True), *request(1, 5, status="500", failed=True)], False),
    ([point("http_reqs", 1, status="0")], True), ([point("http_reqs", 1)], False)])
def test_unreachable_only_without_any_answer(lines: list[bytes], unreachable: bool) -> None:
    assert aggregate(lines, SCENARIO).unreachable is unreachable


def test_nothing_at_all() -> None:
    found = aggregate([], SCENARIO)
    assert (found.points, found.iterations, found.overlap) == (0, 0, {"book": 0})
    assert found.document["http_req_duration_ms"] == {"samples": 0}
    assert "http_req_failed_rate" not in found.document
    assert "arrival_error_ms" not in found.document


@pytest.mark.parametrize("bad", [
    b"{", b"nonsense\n", b"\xff\xfe\n", b"[]\n", b"1\n", b'{"metric":"vus","type":"Point"', b'{"type":"Metric"}\n',
    b'{"metric":"http_reqs","type":"Other","data":{}}\n', point("http_reqs", float("nan")),
    point("http_reqs", -1), point("http_reqs", 1e308), point("iterations", float("inf")),
    point("http_req_duration", -0.1), point("http_req_duration", 1e308), point("http_req_failed", 2),
    point("iteration_duration", -1), point("vus_max", 1e10), point("dropped_iterations", -3),
    point("http_reqs", 1)[:-40], point("http_req_waiting", 1)[:-9] + b"\n",
    point("http_reqs", 1).replace(b"Z", b""), point("http_reqs", 1).replace(b":1,", b':"1",'),
    point("http_reqs", 1, method="x" * 70_000), b'{"metric":' + b"[" * 60_000 + b"\n"])
def test_malformed_lines_are_counted_and_change_nothing(bad: bytes) -> None:
    good = request(1, 5, "book")
    found, clean = aggregate([*good, bad, *good], SCENARIO), aggregate([*good, *good], SCENARIO)
    assert found.malformed == 1
    assert (found.document, found.timeline) == (clean.document, clean.timeline)


def test_blank_lines_and_other_metrics_are_nothing() -> None:
    lines = [b"\n", b"", point("my_counter", 5, kind="x"), point("vus", 3), point("http_req_blocked", 3)]
    found = aggregate(lines, SCENARIO)
    assert (found.points, found.malformed, found.requests) == (3, 0, 0)


def test_a_hundred_thousand_operations_are_bounded() -> None:
    template = point("http_req_duration", 5, operation="op-?")
    lines = (template.replace(b"?", b"%d" % number) for number in range(100_000))
    found = aggregate(chain(lines, request(11, 5, "book"), request(11, 5, "x" * 300)), SCENARIO)
    names = found.document["by_operation"]
    assert len(names) == MOST_OPERATIONS + 2
    assert (names["book"]["samples"], names["_other"]["samples"]) == (1, 100_001 - MOST_OPERATIONS)
    assert found.document["operations_beyond"] == 1 + (100_001 - MOST_OPERATIONS)
    assert len(found.timeline["operations"]) <= 9


@given(st.lists(st.one_of(
    st.binary(max_size=30), st.builds(point, st.sampled_from(["http_reqs", "iteration_duration", "http_req_duration"]),
                                      st.floats(), st.floats(-1e9, 1e9)))))
def test_no_file_raises_and_the_document_is_json(lines: list[bytes]) -> None:
    found = aggregate(lines, SCENARIO)
    json.dumps([found.document, found.timeline], allow_nan=False)
    assert len(found.timeline["requests"]) <= 600


def test_what_the_run_itself_knows() -> None:
    found = with_outcome(METRICS, PASSED)
    assert found.document == {
        "write_attempts": 8, "fixture_requests": 0, "observer_requests": 1, "total_http_reqs": 17,
        "elapsed_seconds": 3.0, "iterations_per_second": 3.2, "http_reqs_per_second": 6.4}
    assert found.writes == METRICS.writes


GROWTH = """
import resource
from tests.bench.load_metrics import k6_lines, scenario
from runner.oracles.load.metrics import aggregate

def lines(journeys):
    made = list(k6_lines(100))
    for hour in range(journeys // 100):
        moment = b'"time":"2026-12-01T%02d:%02d:' % divmod(hour % 1440, 60)
        yield from (line.replace(b'"time":"2026-12-01T08:00:', moment) for line in made)

def peak(journeys):
    found = aggregate(lines(journeys), scenario(86_000))
    assert found.points > journeys * 22, found.points
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

small = peak(5_000)
print(peak(60_000) - small)
"""


def test_memory_does_not_grow_with_points() -> None:
    """From a hundred thousand to over a million points: only starts of journeys are kept, for a while as objects."""
    root = DATA.parents[2]
    grown = subprocess.run([sys.executable, "-c", GROWTH], cwd=root, capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 16 << 10  # KiB
