"""Reading what a driver says of its session. A page can attack the driver, so nothing here is believed: every type,
count, length and file name is checked, and what does not fit ends the run without a verdict.
"""

from __future__ import annotations

import base64
import binascii
import json
import re

from runner.browser.faults import ApiFault
from runner.browser.outcome import Outcome, write_outcome
from runner.errors import NoVerdict, ReportError
from runner.incidents.strict import at_most, plain_json, read_as

MAX_OUTCOME_BYTES = 48 << 20
MOST = {"trace": 20_000, "steps": 20_000, "actions": 40_000, "signals": 2_000, "api_faults": 2_000,
        "state_faults": 2_000, "lanes": 64, "uncontrolled": 256, "dropped": 64, "files": 4_000}
"""Items of each list of an outcome."""
MOST_RESPONSES = 5_000
"""Responses of one lane."""
MAX_TEXT, MAX_VALUE = 64 << 10, 1 << 20
"""Characters of any text, and of those that are put into a page as they are. A fault's body has a limit of its own."""
MAX_BODY = 8 << 20
"""Bytes of the body of a fault, before base64."""

_VALUES = frozenset({"value", "injected_value", "original_value"})
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def parse_outcome(raw: bytes) -> Outcome:
    """The outcome in ``outcome.json``. Raises NoVerdict, and nothing else for any content."""
    try:
        return _parsed(raw)
    except ReportError as error:
        raise NoVerdict(f"the driver's outcome.json: {error.message}") from None


def _parsed(raw: bytes) -> Outcome:
    if len(raw) > MAX_OUTCOME_BYTES:
        raise ReportError(f"has {len(raw)} bytes, expected at most {MAX_OUTCOME_BYTES}")
    value = plain_json(raw)
    if not isinstance(value, dict):
        raise ReportError("is no object")
    for key, most in MOST.items():
        at_most(value.get(key), key, most)
    _check_texts(value, "")
    outcome = read_as(Outcome, value)
    if json.loads(write_outcome(outcome)) != value:
        raise ReportError("has keys that an outcome does not have, or lacks some")
    _check_files(outcome)
    _check_numbers(outcome)
    for index, fault in enumerate(outcome.api_faults):
        check_body(fault, f"api_faults[{index}]")
    return outcome


def is_plain_name(name: str) -> bool:
    """Whether a file of the output folder may be kept under this name: no folder, no hidden file, nothing odd."""
    return _FILE.fullmatch(name) is not None


def check_body(fault: ApiFault, where: str) -> None:
    """Whether a fault's body is base64, and not too much of it. Raises ReportError."""
    if fault.body is None:
        return
    try:
        raw = base64.b64decode(fault.body, validate=True)
    except (binascii.Error, ValueError):
        raise ReportError(f"{where}.body: is not base64") from None
    if len(raw) > MAX_BODY:
        raise ReportError(f"{where}.body: has {len(raw)} bytes, expected at most {MAX_BODY}")


def _check_texts(value: object, key: str) -> None:
    if isinstance(value, str):
        most = MAX_VALUE if key in _VALUES else MAX_TEXT
        if len(value) > most and key != "body":
            raise ReportError(f"{key}: has {len(value)} characters, expected at most {most}")
    elif isinstance(value, list):
        for item in value:
            _check_texts(item, key)
    elif isinstance(value, dict):
        for name, item in value.items():
            if len(name) > MAX_TEXT:
                raise ReportError(f"{key}: has a key of {len(name)} characters")
            _check_texts(item, name)


def _check_files(outcome: Outcome) -> None:
    """Names that the controller will open: plain ones, in the output folder itself."""
    shots = [*(signal.screenshot for signal in outcome.signals), *(step.screenshot for step in outcome.steps)]
    for name in (*outcome.files, *filter(None, shots)):
        if not is_plain_name(name):
            raise ReportError("has a file name that is not plain")


def _check_numbers(outcome: Outcome) -> None:
    last = max(len(outcome.trace), len(outcome.steps)) - 1
    for signal in outcome.signals:
        if not -1 <= signal.step <= last or signal.at_ms < 0:
            raise ReportError("has a signal of a step or time that was not")
        if signal.status is not None and not 0 <= signal.status <= 999:
            raise ReportError("has a signal with a status that is none")
    for position, step in enumerate(outcome.steps):
        if step.index != position or not 0 <= step.started_ms <= step.ended_ms:
            raise ReportError("has steps that do not follow each other")
    for lane in outcome.lanes:
        if lane.lane < 0 or len(lane.responses) > MOST_RESPONSES:
            raise ReportError("has a lane with too many responses, or below the first")
    if outcome.duration_ms < 0 or any(count < 0 for _, count in outcome.dropped):
        raise ReportError("has a negative duration or count")
