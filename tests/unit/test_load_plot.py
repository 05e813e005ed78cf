"""Plots: what is drawn is what was measured. Coordinates are read back from the SVG of a page."""

from __future__ import annotations

import copy
import json
import math
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stored_loads import STEPS, TIMELINE, make_load
from strict_html import document

from runner.reports.html import render_html
from runner.reports.html.load.plot import SIZE, Axes, amount, axes_for, clock, level_step, nice_top, runs
from runner.reports.html.load.timeline import MAX_BYTES, read_timeline


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Each plot of a page by its title."""
    tree = document(render_html(make_load(tmp_path_factory.mktemp("load"))))
    found = {}
    for svg in (node for node in tree.iter() if node.attrib.get("class") == "area"):
        title = next(node.text for node in svg.iter() if node.tag.endswith("title"))
        found[title] = svg
    return found


def _paths(svg: Any) -> dict[str, str]:
    inner = next(node for node in svg.iter() if node.attrib.get("class") == "lines")
    return {node.attrib["class"]: node.attrib["d"] for node in inner.iter() if "d" in node.attrib}


def _top(svg: Any) -> float:
    """What the highest grid line says."""
    words = {node.attrib["y"]: node.text for node in svg.iter() if node.attrib.get("class") == "up"}
    return float(words["0%"].replace(",", ""))


def _levels(path: str, steps: int) -> list[float | None]:
    """The level in each step of a stair, in units from the bottom; ``None`` in a gap."""
    found: list[float | None] = [None] * steps
    for part in re.findall(r"M[^M]+", path):
        words = re.findall(r"[MHV][0-9.]+(?: [0-9.]+)?", part)
        x, y = map(float, words[0][1:].split())
        for word in words[1:]:
            value = float(word[1:])
            if word[0] == "V":
                y = value
                continue
            for step in range(round(x * steps / SIZE), round(value * steps / SIZE)):
                found[step] = SIZE - y
            x = value
    return found


@pytest.mark.parametrize(("title", "kind", "field"), [
    ("Journeys against the schedule", "s1", "iterations"), ("Journeys against the schedule", "plan", "planned"),
    ("Journeys in flight", "s2", "in_flight"), ("Requests and failed requests", "s1", "requests")])
def test_a_stair_has_the_level_of_each_step(drawn: dict[str, Any], title: str, kind: str, field: str) -> None:
    top = _top(drawn[title])
    levels = [level * top / SIZE for level in _levels(_paths(drawn[title])[kind], STEPS) if level is not None]
    assert levels == pytest.approx(TIMELINE[field], abs=top / 900)


def test_failures_are_drawn_where_there_are_any(drawn: dict[str, Any]) -> None:
    svg = drawn["Requests and failed requests"]
    levels = [None if level is None else level * _top(svg) / SIZE for level in _levels(_paths(svg)["lost"], STEPS)]
    wanted = [failed or None for failed in TIMELINE["failures"]]
    assert [level is None for level in levels] == [failed is None for failed in wanted]
    assert [level for level in levels if level] == pytest.approx([failed for failed in wanted if failed], abs=0.05)


@pytest.mark.parametrize("share", ["p50", "p95", "p99"])
def test_a_percentile_goes_through_the_middles_of_its_steps(drawn: dict[str, Any], share: str) -> None:
    svg = drawn["Latency of redeem"]
    path = _paths(svg)[{"p50": "s1", "p95": "s2", "p99": "s3"}[share]]
    points = [tuple(map(float, point)) for point in re.findall(r"([0-9.]+) ([0-9.]+)", path)]
    values = {step: value for step, value in enumerate(TIMELINE["operations"]["redeem"][share]) if value is not None}
    assert path.count("M") == 4, "each gap begins another line"
    assert [x * STEPS / SIZE - 0.5 for x, _ in points] == pytest.approx(list(values), abs=0.01)
    top = _top(svg)
    assert [(SIZE - y) * top / SIZE for _, y in points] == pytest.approx(list(values.values()), abs=top / 900)


def test_what_is_allowed_is_a_level_line(drawn: dict[str, Any]) -> None:
    svg = drawn["Journeys in flight"]
    assert _levels(_paths(svg)["plan"], STEPS) == [8 * SIZE / _top(svg)] * STEPS


def test_an_area_is_what_lies_below_its_line(drawn: dict[str, Any]) -> None:
    paths = _paths(drawn["Requests and failed requests"])
    assert paths["s1 below"].startswith(f"M0 {SIZE}V")
    assert paths["s1 below"].endswith(f"H{SIZE}V{SIZE}Z")
    assert paths["s1 below"].count("Z") == paths["s1"].count("M") == 1


def test_moments_are_where_they_belong(drawn: dict[str, Any]) -> None:
    """The first step begins a second before the first journey, and a step is a second."""
    ticks = {node.text: node.attrib["x"] for node in drawn["Journeys in flight"].iter()
             if node.attrib.get("class") == "across"}
    assert list(ticks) == ["0:00", "0:15", "0:30", "0:45", "1:00", "1:15"]
    assert [float(at.removesuffix("%")) for at in ticks.values()] == pytest.approx(
        [(second + 1) * 100 / STEPS for second in range(0, 90, 15)], abs=0.01)


def test_each_plot_has_a_name_and_says_what_it_shows(drawn: dict[str, Any]) -> None:
    assert list(drawn) == ["Journeys against the schedule", "Journeys in flight", "Requests and failed requests",
                           "Latency of browse", "Latency of add-to-cart", "Latency of redeem"]
    for number, svg in enumerate(drawn.values(), 1):
        assert svg.attrib["role"] == "img"
        texts = {node.attrib["id"]: node.text for node in svg.iter() if "id" in node.attrib}
        assert list(texts) == [svg.attrib["aria-labelledby"], svg.attrib["aria-describedby"]]
        assert list(texts) == [f"plot-{number}", f"drawn-{number}"]
        assert all(texts.values())


@given(st.floats(1e-9, 1e12))
@example(1.0)
@example(5e-9)
def test_the_top_is_round_and_near(value: float) -> None:
    top = nice_top(value)
    assert value <= top * (1 + 1e-9)
    assert top <= 2.5 * value
    assert 1 <= round(top / level_step(top)) <= 5
    assert axes_for(0.0, 1.0, [value]).levels()[-1].at == "0%"


@pytest.mark.parametrize("values", [[0.0], [None], [5e-324], [0.0, None, 0.0]])
def test_nothing_at_all_has_axes_too(values: list[float | None]) -> None:
    assert axes_for(0.0, 1.0, values).top == 1.0


@given(start=st.floats(-1e8, 1e8), width=st.floats(0.001, 86_400), steps=st.integers(1, 1000))
def test_there_are_few_moments_and_all_lie_within(start: float, width: float, steps: int) -> None:
    ticks = Axes(start, width, steps, 1.0).times()
    places = [float(tick.at.removesuffix("%")) for tick in ticks]
    assert len(ticks) <= 8
    assert all(0 <= place <= 100 for place in places)
    assert all(one <= other for one, other in pairwise(places))


@given(st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=30))
def test_runs_are_all_that_is_there(values: list[float | None]) -> None:
    assert [value for _, run in runs(values) for value in run] == [value for value in values if value is not None]
    assert all(values[begin:begin + len(run)] == run for begin, run in runs(values))


def test_a_lone_value_is_a_dot() -> None:
    assert Axes(0.0, 1.0, 4, 10.0).through([None, 5.0, None, None]) == "M375 500h.1"


@pytest.mark.parametrize(("value", "said"), [(0, "0"), (0.25, "0.25"), (12, "12"), (1500, "1,500"), (3e6, "3M")])
def test_amounts(value: float, said: str) -> None:
    assert amount(value) == said


@pytest.mark.parametrize(("seconds", "step", "said"), [
    (0, 1, "0 s"), (2.5, 0.5, "2.5 s"), (-1, 1, "-1 s"), (90, 15, "1:30"), (-30, 30, "-0:30"), (7200, 900, "2:00:00")])
def test_moments(seconds: float, step: float, said: str) -> None:
    assert clock(seconds, step) == said


def _changed(**fields: Any) -> bytes:
    return json.dumps({**copy.deepcopy(TIMELINE), **fields}).encode()


@pytest.mark.parametrize("raw", [
    b"", b"{", b"[]", b"3", b"{}", b"[" * 100_000, b"\xff", b" " * (MAX_BYTES + 1), _changed(bucket_seconds=0),
    _changed(bucket_seconds=-1), _changed(bucket_seconds="1"), _changed(bucket_seconds=True), _changed(planned=[]),
    _changed(planned=[1] * 5000), _changed(requests=[1]), _changed(requests=[None] * STEPS), _changed(requests={}),
    _changed(requests=[-1] * STEPS), _changed(requests=[math.inf] * STEPS), _changed(requests=[math.nan] * STEPS),
    _changed(requests=["1"] * STEPS), _changed(requests=[10**400] * STEPS), _changed(start_seconds=1e300),
    _changed(operations=[]), _changed(operations={"a": 1}), _changed(operations={"a": {"p50": [1]}}),
    _changed(operations={str(number): {} for number in range(33)})])
def test_a_timeline_that_is_odd_is_none(raw: bytes, tmp_path: Path) -> None:
    assert read_timeline(raw) is None


def test_a_timeline() -> None:
    found = read_timeline(_changed(bucket_seconds=2))
    assert found is not None
    assert found.rate(found.requests)[:2] == (2.5, 3.0)
    assert found.operations["browse"]["p50"][7] is None


def test_a_long_timeline_is_drawn_in_means_of_its_steps() -> None:
    found = read_timeline(_changed())
    assert found is not None
    drawn = found.folded(20)
    assert (drawn.width, len(drawn.planned)) == (5.0, 18)
    assert drawn.planned[:7] == (1.0,) * 6 + (6.0,)
    assert drawn.rate(drawn.requests)[0] == sum(TIMELINE["requests"][:5]) / 5
    odd = found.folded(40)
    assert (odd.width, len(odd.failures)) == (3.0, 30)
    assert found.folded(STEPS).failures == found.failures
    uneven = found.folded(STEPS - 1)
    assert len(uneven.planned) == 45


def test_the_last_step_of_a_folded_timeline_is_a_mean_of_what_there_is() -> None:
    found = read_timeline(json.dumps({"bucket_seconds": 1, "planned": [2] * 5, "iterations": [2] * 5,
                                      "requests": [2] * 5, "failures": [2] * 5, "in_flight": [2] * 5}).encode())
    assert found is not None
    drawn = found.folded(2)
    assert drawn.rate(drawn.requests) == drawn.planned == drawn.in_flight == (2.0, 2.0)
