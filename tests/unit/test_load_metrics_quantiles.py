"""Percentiles, exact and beyond, and peaks of open intervals, against naive references."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.oracles.load import overlap
from runner.oracles.load.overlap import WINDOW, Overlap
from runner.oracles.load.quantiles import CEILING_MS, Accuracy, Durations

SHARES = (0.0, 0.5, 0.95, 0.99, 1.0)
VALUES = st.lists(st.floats(0, CEILING_MS), min_size=1, max_size=200)


def filled(values: Sequence[float], exact: int, error: float = 0.005) -> Durations:
    series = Durations(Accuracy(exact, error))
    for value in values:
        series.add(value)
    return series


def percentiles(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    found = []
    for share in SHARES:
        place = (len(values) - 1) * share
        low, high = ordered[int(place)], ordered[min(int(place) + 1, len(values) - 1)]
        found.append(low + (high - low) * (place - int(place)))
    return found


@given(VALUES)
def test_exact(values: list[float]) -> None:
    series = filled(values, 201)
    assert series.is_exact
    assert series.quantiles(SHARES) == percentiles(values)
    assert (len(series), series.largest) == (len(values), max(values))


@given(VALUES, st.integers(1, 50), st.sampled_from([0.005, 0.02]))
def test_beyond_the_limit_within_the_stated_error(values: list[float], exact: int, error: float) -> None:
    series = filled(values, exact, error)
    assert series.is_exact == (len(values) < exact)
    for found, true in zip(series.quantiles(SHARES), percentiles(values), strict=True):
        # Below a microsecond all is one bin.
        assert found == pytest.approx(true, rel=error * 1.0001, abs=1.1e-3)
    assert series.largest == max(values)
    assert series.average == pytest.approx(sum(values) / len(values))


@given(VALUES, VALUES, st.integers(1, 300), st.integers(1, 300))
def test_merged_is_as_if_it_had_been_one(one: list[float], other: list[float], first: int, second: int) -> None:
    merged = filled(one, first)
    merged.merge(filled(other, second))
    assert len(merged) == len(one) + len(other)
    for found, true in zip(merged.quantiles(SHARES), percentiles([*one, *other]), strict=True):
        assert found == pytest.approx(true, rel=0.00501, abs=1.1e-3)
    assert merged.largest == max(*one, *other)


def test_no_samples() -> None:
    series = filled([], 10)
    assert (series.average, series.largest) == (0.0, 0.0)
    with pytest.raises(ValueError, match="no samples"):
        series.quantiles([0.5])


def swept(spans: Sequence[tuple[float, float]]) -> int:
    edges = sorted(edge for start, end in spans if start < end for edge in ((start, 1), (end, -1)))
    count = most = 0
    for _, step in edges:
        count += step
        most = max(most, count)
    return most


def peak(spans: Sequence[tuple[float, float]]) -> Overlap:
    found = Overlap()
    for start, end in spans:
        found.add(start, end)
    return found


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=120))
def test_peak_as_by_a_sweep(pairs: list[tuple[int, int]]) -> None:
    spans = [(start, start + length) for start, length in pairs]
    assert peak(spans).peak() == swept(spans)


def test_long_streams_that_are_somewhat_out_of_order() -> None:
    chance = random.Random(7)
    spans = sorted(((start, start + chance.expovariate(0.2)) for start in
                    (chance.random() * 5000 for _ in range(20_000))), key=lambda span: span[1])
    for place in range(0, len(spans), WINDOW // 2):
        part = spans[place:place + WINDOW // 2]
        chance.shuffle(part)
        spans[place:place + WINDOW // 2] = part
    found = peak(spans)
    assert found.peak() == swept(spans) > 20
    assert found.late == 0


def test_ends_come_before_starts_and_nothing_is_no_overlap() -> None:
    assert peak([(0, 1), (1, 2), (2, 3)]).peak() == 1
    assert peak([(1, 1), (2, 2)]).peak() == 0


def test_too_far_out_of_order_is_counted() -> None:
    found = peak([(number, number + 0.5) for number in range(10 * WINDOW, 0, -1)])
    assert found.peak() >= 1
    assert found.late > 0


def test_the_peak_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlap, "MOST_OPEN", 50)
    assert peak([(0, number + 1) for number in range(1000)]).peak() == 50
