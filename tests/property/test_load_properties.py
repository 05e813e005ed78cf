"""Expressions against Python's own arithmetic, matchers against JSON, and hostile texts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from runner.load.expressions import evaluate
from runner.load.matchers import check, json_equal
from runner.load.pointer import ABSENT, at_pointer
from runner.load.strictjson import parsed
from runner.load_driver.copying import Copier, Tail

NUMBERS = st.integers(0, 10**6).map(str)
SUMS = st.recursive(NUMBERS | st.just("seed"), lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from(["+", "-", "*", " * ", " - "]), inner).map("".join),
    inner.map("({})".format), inner.map("-{}".format)), max_leaves=8)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
                      | st.text(max_size=8),
                      lambda inner: st.lists(inner, max_size=4)
                      | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=12)


@given(SUMS)
def test_an_expression_is_what_python_makes_of_it(text: str) -> None:
    plain = "".join(f"({number})" if number.isdigit() else number for number in _words(text))
    assert evaluate(text, {"seed": 42}) == eval(plain, {"seed": 42})


def _words(text: str) -> list[str]:
    """Numbers without their leading zeros, which Python refuses, and everything between."""
    words, word = [], ""
    for letter in text + " ":
        if letter.isdigit():
            word += letter
            continue
        words += [str(int(word))] if word else []
        words.append(letter)
        word = ""
    return words


@given(st.text(max_size=300))
def test_no_text_breaks_an_expression(text: str) -> None:
    said = ""
    try:
        evaluate(text, {"seed": 1})
    except ValueError as error:
        said = str(error)
    assert not said or said.startswith("the expression ")


@given(VALUES)
def test_a_value_equals_itself_after_json(value: Any) -> None:
    again = parsed(json.dumps(value))
    assert json_equal(value, again)
    assert check({"eq": value}, again, {}).passed
    assert json_equal(again, value)


@given(VALUES, VALUES)
def test_equality_has_no_direction(one: Any, other: Any) -> None:
    assert json_equal(one, other) == json_equal(other, one)


@given(VALUES, st.text(max_size=12))
def test_a_pointer_finds_something_or_nothing(value: Any, path: str) -> None:
    found = at_pointer(value, f"/{path}")
    assert found is ABSENT or json.dumps(found) in json.dumps(value)


@given(st.binary(max_size=64) | st.text(max_size=64))
def test_no_bytes_break_the_parser(raw: bytes | str) -> None:
    said = ""
    try:
        value = parsed(raw)
    except ValueError as error:
        said = str(error)
    else:
        json.dumps(value, allow_nan=False)
    assert said in ("", "no JSON", "nested deeper than 100")


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(1, 60))
def test_a_tail_is_the_end(blocks: list[bytes], cap: int) -> None:
    tail = Tail(cap)
    for block in blocks:
        tail.add(block)
    assert tail.text() == b"".join(blocks)[-cap:].decode("utf-8", "replace")


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(0, 200))
def test_a_copier_keeps_a_beginning_of_whole_lines_and_counts_the_rest(blocks: list[bytes], cap: int) -> None:
    kept: list[bytes] = []
    copier = Copier(kept.append, cap)
    for block in blocks:
        copier.take(block)
    all_of_it, beginning = b"".join(blocks), b"".join(kept)
    assert all_of_it.startswith(beginning)
    assert len(beginning) <= cap
    assert copier.dropped == len(all_of_it) - len(beginning)
