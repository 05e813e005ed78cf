"""The stage funnel: reached, stalled, and what belongs to nobody."""

from __future__ import annotations

from dataclasses import replace

from load_oracle_samples import SCENARIO, event, logged, stage

from runner.oracles.load.funnel import stage_funnel
from runner.scenarios.model import Journey, Scenario


def staged(*journeys: tuple[str, tuple[str, ...] | None]) -> Scenario:
    return replace(SCENARIO, journeys=tuple(Journey(name, 1, 1, stages=stages) for name, stages in journeys))


ONE = staged(("buy", ("cart", "pay", "done")))
TWO = staged(("buy", ("cart", "pay")), ("look", ("open", "pay")))


def test_counts_distinct_journeys_and_where_they_stalled() -> None:
    events = logged(*(stage("cart", key) for key in "aabcd"), *(stage("pay", key) for key in "abx"), stage("done", "a"))
    found = stage_funnel(ONE, events, 7)
    assert found.journeys == {"buy": {
        "started": 7, "undeclared": [],
        "stages": [{"name": "cart", "reached": 4}, {"name": "pay", "reached": 3}, {"name": "done", "reached": 1}],
        "stalled": [{"after": "start", "count": 3}, {"after": "cart", "count": 2}, {"after": "pay", "count": 2}]}}
    assert found.unfinished == ()


def test_without_stages_there_is_no_funnel() -> None:
    found = stage_funnel(SCENARIO, logged(stage("cart", "a"), event()), 8)
    assert found.journeys is None
    assert found.undeclared == {"cart": 1}


def test_more_keys_than_iterations_are_believed() -> None:
    found = stage_funnel(ONE, logged(stage("cart", "a"), stage("pay", "b")), 1)
    assert found.journeys is not None
    assert found.journeys["buy"]["started"] == 2


def test_with_several_journeys_started_is_what_was_seen() -> None:
    found = stage_funnel(TWO, logged(stage("cart", "a"), stage("open", "b"), stage("open", "c")), 50)
    assert found.journeys is not None
    assert [found.journeys[name]["started"] for name in ("buy", "look")] == [1, 2]


def test_shared_stages_belong_to_nobody() -> None:
    found = stage_funnel(TWO, logged(stage("pay", "a"), stage("pay", "b"), stage("odd", "a")), 2)
    assert found.unattributable == {"pay": 2}
    assert found.undeclared == {"odd": 1}
    assert found.unfinished == (("buy", "pay"), ("look", "pay"))
    assert found.journeys is not None
    assert all(funnel["undeclared"] == [] for funnel in found.journeys.values())


def test_an_undeclared_stage_is_told_to_the_only_journey_with_stages() -> None:
    scenario = staged(("buy", ("cart",)), ("look", None))
    found = stage_funnel(scenario, logged(stage("odd", "a"), stage("odd", "a"), stage("cart", "b")), 2)
    assert found.journeys is not None
    assert found.journeys["buy"]["undeclared"] == ["odd"]
    assert found.undeclared == {"odd": 2}


def test_nobody_at_the_last_stage() -> None:
    assert stage_funnel(ONE, logged(stage("pay", "a")), 1).unfinished == (("buy", "done"),)
