"""What an observation expects: pointers, matchers, and what is kept of an actual value."""

from __future__ import annotations

from typing import Any

import pytest

from runner.load.matchers import MAX_SHOWN, check, check_expected, json_equal
from runner.load.pointer import ABSENT, at_pointer

DOCUMENT = {"a": [10, {"b": None}], "x/y": 1, "m~n": 2, "": 3, "0": 4}
NAMES = {"planned_journeys": 30, "seed": 7}


@pytest.mark.parametrize(("pointer", "found"), [
    ("", DOCUMENT), ("/a/0", 10), ("/a/1/b", None), ("/a/01/b", None), ("/x~1y", 1), ("/m~0n", 2), ("/", 3), ("/0", 4),
    ("/a/-", ABSENT), ("/a/2", ABSENT), ("/a/-1", ABSENT), ("/a/\u0660", ABSENT), ("/a/1/b/c", ABSENT), ("/b", ABSENT),
    ("/a/99999999999999999999", ABSENT), ("/x/y", ABSENT)])
def test_a_pointer_leads_where_it_says(pointer: str, found: Any) -> None:
    assert at_pointer(DOCUMENT, pointer) is found or at_pointer(DOCUMENT, pointer) == found


def test_an_escaped_tilde_is_not_unescaped_twice() -> None:
    assert at_pointer({"~1": "right", "/": "wrong"}, "/~01") == "right"


@pytest.mark.parametrize(("expected", "actual", "passed"), [
    (1, 1, True), (1, 1.0, True), (1, True, False), (True, 1, False), (0, False, False), (None, None, True),
    ("1", 1, False), ([1, {"a": True}], [1.0, {"a": True}], True), ([1, {"a": True}], [1, {"a": 1}], False),
    ({"eq": 5}, 5, True), ({"eq": {"eq": 5}}, {"eq": 5}, True), ({"eq": [1]}, (), False), ({}, {}, True),
    ({"a": 1}, {"a": 1}, True), ({"a": 1, "eq": 2}, {"a": 1, "eq": 2}, True),
    ({"gte": 2}, 2, True), ({"gte": 2}, 1.9, False), ({"gte": 0}, True, False), ({"gte": 0}, "1", False),
    ({"gte": 0}, None, False), ({"lte": 2}, 2.0, True), ({"lte": 2}, 3, False),
    ({"len": 2}, [1, 2], True), ({"len": 2}, "ab", True), ({"len": 1}, {"a": 1}, True), ({"len": 0}, None, False),
    ({"len": 2}, 12, False), ({"exists": True}, None, True), ({"exists": False}, None, False),
    ("${planned_journeys}", 30, True), ({"gte": "${planned_journeys - 1}"}, 29, True), ("${seed} ", "${seed} ", True)])
def test_a_matcher_holds_or_not(expected: Any, actual: Any, passed: bool) -> None:
    assert check(expected, actual, NAMES).passed is passed


@pytest.mark.parametrize(("expected", "passed"), [
    (None, False), ({"exists": False}, True), ({"exists": True}, False), ({"len": 0}, False), ({"lte": 9}, False)])
def test_what_is_not_there_is_only_matched_by_its_absence(expected: Any, passed: bool) -> None:
    assert check(expected, ABSENT, NAMES).passed is passed


@pytest.mark.parametrize("expected", [
    {"gte": 1, "lte": 2}, {"gte": "1"}, {"gte": True}, {"lte": None}, {"len": -1}, {"len": 1.0}, {"len": True},
    {"exists": 1}, {"gte": "${nobody}"}, "${1 +}"])
def test_a_matcher_that_breaks_a_rule_is_refused_before_anything_runs(expected: Any) -> None:
    with pytest.raises(ValueError, match=r"^/at: "):
        check_expected(expected, "/at")


def test_the_document_is_as_in_litetraffic() -> None:
    assert check({"len": 2}, [1], NAMES).document() == {
        "matcher": {"len": 2}, "actual": {"type": "array", "length": 1}, "pass": False, "reason": "has another length"}
    assert check({"exists": True}, None, NAMES).document() == {
        "matcher": {"exists": True}, "actual": True, "pass": True}
    seen = check({"lte": "${seed}"}, 3, NAMES)
    assert (seen.document()["matcher"], seen.expected) == ({"lte": 7}, {"lte": 7})
    assert check("${seed}", 3, NAMES).expected == 7


def test_a_large_actual_value_is_cut_by_its_json() -> None:
    fits, more = "x" * (MAX_SHOWN - 2), "x" * (MAX_SHOWN - 1)
    assert check(1, fits, NAMES).actual == fits
    cut = check(1, more, NAMES).actual
    assert len(cut) == MAX_SHOWN
    assert cut.startswith('"xxx')
    assert len(check(1, "é" * MAX_SHOWN, NAMES).actual) == MAX_SHOWN


def test_equality_looks_at_every_level() -> None:
    deep: Any = 1
    other: Any = True
    for _ in range(60):
        deep, other = [deep], [other]
    assert json_equal(deep, deep)
    assert not json_equal(deep, other)
