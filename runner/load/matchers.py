"""What an observation expects at a pointer: a literal, a matcher, or an expression. LiteTraffic's rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runner.load.expressions import NAMES, evaluate, expression_in
from runner.load.pointer import ABSENT

MATCHERS = frozenset({"eq", "gte", "lte", "len", "exists"})
MAX_SHOWN = 2048
"""Bytes of JSON of an actual value that are kept."""
_CUT = "...[cut]"


@dataclass(frozen=True, slots=True)
class Check:
    """One pointer's result. ``operand`` has its expressions resolved, ``expected`` likewise, in the manifest's form;
    ``actual`` is as it is recorded.
    """

    matcher: str
    operand: Any
    expected: Any
    actual: Any
    passed: bool
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """As ``observation.json`` has it."""
        return {"matcher": {self.matcher: self.operand}, "actual": self.actual, "pass": self.passed,
                **({"reason": self.reason} if self.reason else {})}


def check_expected(value: Any, pointer: str) -> None:
    """Raises ValueError for a matcher or an expression that breaks a rule."""
    try:
        matcher, operand = _split(value)
        _check_operand(matcher, operand, _resolved(operand, dict.fromkeys(NAMES, 1)))
    except ValueError as error:
        raise ValueError(f"{pointer or 'the whole document'}: {error}") from None


def check(value: Any, actual: Any, names: Mapping[str, int]) -> Check:
    """Compare what is at a pointer, or :data:`ABSENT`, with what is expected there. Raises ValueError as
    :func:`check_expected`.
    """
    matcher, operand = _split(value)
    wanted = _resolved(operand, names)
    _check_operand(matcher, operand, wanted)
    shown = {matcher: wanted} if operand is not value else wanted
    recorded = _recorded(matcher, actual)
    if matcher == "exists":
        return Check(matcher, wanted, shown, recorded, (actual is not ABSENT) is wanted)
    if actual is ABSENT:
        return Check(matcher, wanted, shown, None, passed=False, reason="nothing is there")
    passed, reason = _HOLDS[matcher](actual, wanted)
    return Check(matcher, wanted, shown, recorded, passed, "" if passed else reason)


def json_equal(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, and no boolean is a number, at any depth."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(json_equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(json_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    return type(one) is type(other) and bool(one == other)


def _split(value: Any) -> tuple[str, Any]:
    """The matcher and its operand. An object whose keys are all matchers' is one, and must have exactly one."""
    if not isinstance(value, dict) or not value or not value.keys() <= MATCHERS:
        return "eq", value
    if len(value) > 1:
        raise ValueError("a matcher has exactly one of " + ", ".join(sorted(MATCHERS)))
    return next(iter(value.items()))


def _resolved(operand: Any, names: Mapping[str, int]) -> Any:
    expression = expression_in(operand)
    return operand if expression is None else evaluate(expression, names)


def _check_operand(matcher: str, operand: Any, resolved: Any) -> None:
    if matcher != "exists" and resolved is not operand:
        return  # an expression gives a whole number; one below 0 is a length that nothing has
    if matcher in ("gte", "lte") and not _is_number(operand):
        raise ValueError(f"{matcher} needs a number")
    if matcher == "len" and (isinstance(operand, bool) or not isinstance(operand, int) or operand < 0):
        raise ValueError("len needs a whole number, at least 0")
    if matcher == "exists" and not isinstance(operand, bool):
        raise ValueError("exists needs true or false")


def _recorded(matcher: str, actual: Any) -> Any:
    if matcher == "exists":
        return actual is not ABSENT
    if actual is ABSENT:
        return None
    if matcher == "len":
        size = len(actual) if isinstance(actual, list | str | dict) else None
        return {"type": _type_name(actual), "length": size}
    text = json.dumps(actual, ensure_ascii=True)
    return actual if len(text) <= MAX_SHOWN else text[:MAX_SHOWN - len(_CUT)] + _CUT


def _equal(actual: Any, wanted: Any) -> tuple[bool, str]:
    return json_equal(actual, wanted), "is something else"


def _at_least(actual: Any, wanted: Any) -> tuple[bool, str]:
    return (actual >= wanted, "is less") if _is_number(actual) else (False, "is no number")


def _at_most(actual: Any, wanted: Any) -> tuple[bool, str]:
    return (actual <= wanted, "is more") if _is_number(actual) else (False, "is no number")


def _long(actual: Any, wanted: Any) -> tuple[bool, str]:
    if not isinstance(actual, list | str | dict):
        return False, "has no length"
    return len(actual) == wanted, "has another length"


_HOLDS = {"eq": _equal, "gte": _at_least, "lte": _at_most, "len": _long}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type_name(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = ((dict, "object"), (list, "array"), (str, "string"), (int, "number"), (float, "number"))
    return next((name for kind, name in names if isinstance(value, kind)), "null")
