"""``${…}``: whole numbers, a few operators, a few names, and bounds."""

from __future__ import annotations

import pytest

from runner.load.expressions import MAX_BITS, MAX_CHARS, MAX_NESTING, evaluate, expression_in

NAMES = {"planned_journeys": 30, "seed": 7}


@pytest.mark.parametrize(("text", "value"), [
    ("1", 1), ("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("10 - 2 - 3", 5), ("-3 + 5", 2), ("- -3", 3), ("2*-3", -6),
    ("planned_journeys * 2 + seed", 67), (" 007 ", 7), ("((((1))))", 1), ("-(1+1)", -2), ("0*seed", 0)])
def test_it_is_arithmetic(text: str, value: int) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize("text", [
    "", " ", "1 +", "* 2", "1 2", "(1", "1)", "()", "1 / 2", "1 // 2", "2 ** 3", "1.5", "0x10", "run_id", "seed(1)",
    "__import__('os')", "seed.real", "1 if 1 else 2", "9e9", "é",
    "\uff11", "1;2", "1\n2", "planned journeys", "+", "-"])
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=r"^the expression ") as caught:
        evaluate(text, NAMES)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_length_nesting_and_size_are_bounded() -> None:
    assert evaluate("1" + " " * (MAX_CHARS - 1), NAMES) == 1
    with pytest.raises(ValueError, match="longer than"):
        evaluate("1" + " " * MAX_CHARS, NAMES)
    assert evaluate("(" * MAX_NESTING + "1" + ")" * MAX_NESTING, NAMES) == 1
    for opening, closing in (("(", ")"), ("-", ""), ("-(", ")")):
        with pytest.raises(ValueError, match="nested deeper"):
            evaluate(opening * (MAX_NESTING + 1) + "1" + closing * (MAX_NESTING + 1), NAMES)
    with pytest.raises(ValueError, match="too large"):
        evaluate("seed*" * 30 + "seed", {"seed": 1 << (MAX_BITS // 8)})


@pytest.mark.parametrize(("value", "found"), [
    ("${1}", "1"), ("${a}b", None), ("b${a}", None), (" ${a}", None), ("${a}${b}", "a}${b"), ("${\n1}", "\n1"),
    (5, None), ({"a": "${1}"}, None), ("$1", None), ("${}", "")])
def test_only_a_text_that_is_nothing_else_is_an_expression(value: object, found: str | None) -> None:
    assert expression_in(value) == found
