"""Rows of assertions: the first rule that fits, in the contract's order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from load_oracle_samples import PASSED, SCENARIO, complete, event, logged

from runner.oracles.load.assertions import UNREACHABLE, assertion_rows
from runner.oracles.load.model import AssertionRow, Events


def row(events: Events, name: str = "held", *, unreachable: bool = False, **document: Any) -> AssertionRow:
    outcome = replace(PASSED, observations=({**PASSED.observations[0], **document},))
    rows = assertion_rows(SCENARIO, outcome, events, unreachable=unreachable)
    return next(each for each in rows if each.id == name)


def samples(*keys: str | None) -> Events:
    return logged(*(event(logical_key=key) for key in keys))


@pytest.mark.parametrize(("keys", "status", "reason"), [
    ("01234567", "pass", ""), ("", "unknown", "missing"), ((*"0123456", None), "unknown", "no logical_key"),
    ("01234566", "unknown", "more than once"), ("0123456", "unknown", "7 samples of 8 planned"),
    ("012345678", "unknown", "9 samples of 8 planned"), ((None, *"00"), "unknown", "no logical_key")])
def test_completeness(keys: str, status: str, reason: str) -> None:
    found = row(samples(*keys))
    assert (found.status, found.samples) == (status, len(keys))
    assert reason in found.reason


def test_any_false_fails_whatever_is_missing() -> None:
    bad = [event(passed=False, logical_key=key, expected=1, actual=number, detail="no") if key else
           event(passed=False, logical_key=..., actual=number) for number, key in enumerate(["a", None, "a", "b"])]
    found = row(logged(event(), *bad))
    assert (found.status, found.samples, found.reason) == ("fail", 5, "4 of 5 samples failed")
    assert found.failures == (
        {"sequence": 2, "logical_key": "a", "expected": 1, "actual": 0, "detail": "no"}, {"sequence": 3, "actual": 1},
        {"sequence": 4, "logical_key": "a", "expected": 1, "actual": 2, "detail": "no"})
    assert (found.expected, found.actual) == (1, 0)


@pytest.mark.parametrize("status", ["pass", "fail", "unknown"])
def test_an_observation_decides_and_events_for_it_do_not(status: str) -> None:
    found = row(complete(event(assertion="seen", passed=False)), "seen", status=status)
    assert (found.status, found.samples) == (status, int(status != "unknown"))
    assert found.failures == ()
    assert (found.reason == "") == (status == "pass")


def test_reasons_of_observations() -> None:
    checks = {"/used": {"matcher": "eq", "actual": 9, "pass": False}, "/limit": {"pass": True}}
    assert row(complete(), "seen", status="fail", checks=checks).reason == "the final state differs at /used"
    assert row(complete(), "seen", status="unknown", reason="GET /x: \x1b").reason == "GET /x: \\x1b"
    assert row(complete(), "seen", status=["pass"], checks=7).status == "unknown"


def test_what_was_not_observed_is_unknown() -> None:
    rows = assertion_rows(SCENARIO, replace(PASSED, observations=()), complete(), unreachable=False)
    assert [(each.status, each.reason) for each in rows] == [("pass", ""), ("unknown", "not observed")]


def test_where_nothing_was_reached_nothing_failed() -> None:
    found = row(complete(event(passed=False)), unreachable=True)
    assert (found.status, found.reason, found.samples) == ("unknown", UNREACHABLE, 9)
    assert row(complete(), unreachable=True).status == "pass"


def test_a_repeated_id_is_one_row() -> None:
    scenario = replace(SCENARIO, assertions=("held", "seen", "held"))
    assert [each.id for each in assertion_rows(scenario, PASSED, complete(), unreachable=False)] == ["held", "seen"]
