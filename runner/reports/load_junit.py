"""Assertions of a load run as test cases. Pure."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from runner.errors import printable
from runner.evidence.result import Result

_CLASS = "runner.assertions"
_LONGEST = 1000


def assertion_cases(result: Result) -> list[Element]:
    """A case for each declared assertion: failed, or in error where nothing is known of it. None of other runs."""
    return [_case(row.id, row.status, row.reason) for row in result.assertions or ()]


def _case(name: str, status: str, reason: str) -> Element:
    case = Element("testcase", {"name": printable(name)[:_LONGEST], "classname": _CLASS, "time": "0.000"})
    if status != "pass":
        SubElement(case, "failure" if status == "fail" else "error",
                   {"type": status, "message": printable(reason)[:_LONGEST]})
    return case
