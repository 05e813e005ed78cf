"""Steps over time, and arrivals against the plan."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from load_oracle_samples import DATA, SCENARIO, point, request

from runner.load.job import Phase
from runner.oracles.load import arrivals
from runner.oracles.load.arrivals import arrival_errors, planned_arrivals, planned_rate
from runner.oracles.load.metrics import aggregate
from runner.oracles.load.timeline import BUCKETS

SCHEDULE = (Phase("calm", 2, 1), Phase("quiet", 1, 0), Phase("burst", 1, 4))


def test_k6_starts_its_nth_journey_when_the_rate_adds_up_to_n() -> None:
    assert list(planned_arrivals(SCHEDULE)) == [1, 2, 3.25, 3.5, 3.75, 4]
    assert list(planned_arrivals(())) == []


@pytest.mark.parametrize(("begin", "end", "rate"), [(0, 1, 1), (1.5, 2.5, 0.5), (2, 3, 0), (3, 4, 4), (0, 4, 1.5),
                                                    (-1, 1, 0.5), (9, 10, 0)])
def test_planned_rate(begin: float, end: float, rate: float) -> None:
    assert planned_rate(SCHEDULE, begin, end) == pytest.approx(rate)


def test_errors_in_order_and_from_the_first_arrival() -> None:
    starts = array("d", [100 + moment + late for moment, late in
                         zip(planned_arrivals(SCHEDULE), (0.5, 0.5, 0.51, 0.48, 0.5, 0.54), strict=True)][::-1])
    found = arrival_errors(SCHEDULE, starts, 6)
    assert found == {"samples": 6, "p50": 5.0, "p95": 35.0, "max": 40.0, "matched": "order"}


def test_a_missing_arrival_does_not_shift_the_others() -> None:
    starts = array("d", [101, 102, 103.25, 103.751, 104])
    assert arrival_errors(SCHEDULE, starts, 5) == {"samples": 5, "p50": 0.0, "p95": 0.8, "max": 1.0,
                                                   "matched": "nearest"}


def test_no_arrivals_or_no_plan() -> None:
    assert arrival_errors(SCHEDULE, array("d"), 0) is None
    assert arrival_errors((), array("d", [1.0]), 1) is None


def test_arrivals_beyond_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MOST_ARRIVALS", 3)
    found = arrival_errors(SCHEDULE, array("d", [101, 102, 103.25]), 6)
    assert found is not None
    assert (found["matched"], found["max"]) == ("nearest", 0.0)


def journeys(*starts: float, seconds: float = 0.1) -> list[bytes]:
    return [line for start in starts for line in
            [*request(start + seconds, seconds * 1000, "book"), point("iteration_duration", seconds * 1000,
                                                                      start + seconds)]]


def test_steps() -> None:
    found = aggregate(journeys(0, 0.3, 0.7, 1.2, 1.9, seconds=0.25), SCENARIO).timeline
    assert found["bucket_seconds"] == 0.5
    # The schedule begins a third of a second before its first arrival.
    begin = found["start_seconds"]
    assert begin == pytest.approx(-0.51, abs=0.011)
    assert found["iterations"] == found["requests"] == [0, 2, 1, 1, 1, 0]
    assert sum(found["in_flight"]) * 0.5 == pytest.approx(5 * 0.25, abs=0.01)
    assert sum(found["planned"]) * 0.5 == pytest.approx(8, abs=0.01)
    assert found["operations"]["book"]["p95"][1] == pytest.approx(250)
    assert found["operations"]["book"]["p50"][0] is None
    lengths = {len(found[name]) for name in ("requests", "iterations", "failures", "planned", "in_flight",
                                             "open_requests")}
    assert lengths == {len(found["operations"]["book"]["p99"])}


def test_intervals_over_several_steps() -> None:
    found = aggregate([point("iteration_duration", 2000, 2.0), *journeys(0.1)], SCENARIO).timeline
    place = round((0 - found["start_seconds"]) / 0.5)
    assert found["in_flight"][place + 1:place + 3] == [1, 1]
    assert sum(found["in_flight"]) * 0.5 == pytest.approx(2.1, abs=0.01)


def test_what_began_before_the_first_sample_has_its_own_step() -> None:
    """The first request to end is not the first to begin."""
    lines = [*journeys(10), *journeys(0, seconds=12)]
    found = aggregate(lines, SCENARIO).timeline
    assert found["outside"] == 0
    assert found["start_seconds"] <= 0
    assert found["iterations"].count(1) == 2


def test_failures_are_where_they_ended() -> None:
    lines = [*journeys(0), *request(1.6, 100, "book", status="500", failed=True)]
    found = aggregate(lines, SCENARIO).timeline
    place = found["failures"].index(1)
    assert found["start_seconds"] + place * 0.5 <= 1.6 < found["start_seconds"] + (place + 1) * 0.5 + 0.01
    assert sum(found["failures"]) == 1


def test_the_eight_busiest_have_lines_and_the_rest_one() -> None:
    lines = [line for number in range(30) for line in request(number / 10, number + 1, f"op{number:02}")
             * (3 if number in (5, 12) else 1)]
    found = aggregate(lines, replace(SCENARIO, journeys=())).timeline["operations"]
    assert list(found) == ["op05", "op12", "op00", "op01", "op02", "op03", "op04", "op06", "_other"]
    assert max(value for value in found["_other"]["p99"] if value is not None) <= 30


@pytest.mark.parametrize("seconds", [1, 60, 3600, 100_000, 10_000_000])
def test_steps_are_bounded(seconds: int) -> None:
    scenario = replace(SCENARIO, schedule=(Phase("long", seconds, 1),), engine_seconds=seconds + 50.0)
    lines = journeys(0, seconds / 2, seconds - 1, 1e9)
    found = aggregate(lines, scenario).timeline
    assert len(found["requests"]) <= BUCKETS
    assert sum(found["iterations"]) == 3
    assert found["outside"] == 2


def test_of_a_real_run() -> None:
    lines = (DATA / "metrics" / "k6-1.1.0.jsonl").read_bytes().splitlines(keepends=True)
    found = aggregate(lines, SCENARIO).timeline
    assert (sum(found["requests"]), sum(found["iterations"]), sum(found["failures"])) == (17, 8, 3)
    assert sum(found["planned"]) * found["bucket_seconds"] == pytest.approx(8, abs=0.01)
    assert set(found["operations"]) == {"book", "slot", "_untagged"}
