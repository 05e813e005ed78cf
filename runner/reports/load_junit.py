"""Assertions of a load run as test cases. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement

from runner.errors import printable
from runner.evidence.load_record import AssertionRecord, LoadRecord
from runner.evidence.result import Result

_CLASS = "runner.assertions"
_LONGEST, _MOST = 1000, 500


def assertion_cases(result: Result) -> list[Element]:
    """A case for each declared assertion: failed, with the first samples that did, or in error where nothing is known
    of it; the first 500. None of other runs.
    """
    return [_case(row) for row in (result.assertions or ())[:_MOST]]


def _case(row: AssertionRecord) -> Element:
    case = Element("testcase", {"name": _text(row.id), "classname": _CLASS, "time": "0.000"})
    if row.status != "pass":
        problem = SubElement(case, "failure" if row.status == "fail" else "error",
                             {"type": row.status, "message": _text(row.reason)})
        problem.text = "\n".join(map(_text, _samples(row))) or None
    return case


def _samples(row: AssertionRecord) -> Iterator[str]:
    if row.expected is not None or row.actual is not None:
        yield f"expected {json.dumps(row.expected, sort_keys=True)}, seen {json.dumps(row.actual, sort_keys=True)}"
    yield from (json.dumps(sample, sort_keys=True) for sample in row.failures)


def _text(text: str) -> str:
    return printable(text)[:_LONGEST]


def load_properties(load: LoadRecord) -> Iterator[tuple[str, str]]:
    """What a load run has beside a command's."""
    yield "scenario", load.scenario
    yield "scenario_sha256", load.scenario_sha256
    yield "scenario_fingerprint", load.scenario_fingerprint
    yield "target", load.target
    yield "k6", load.engine
    yield "k6_image_id", load.driver_image.used_id
    yield "k6_policy_sha256", load.driver_policy.sha256
