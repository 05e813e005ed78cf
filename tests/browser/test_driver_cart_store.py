"""The shop of the sample cases with its two bugs in local storage, played as its recording says, by the driver."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from applications import application
from chromium import chromium
from driving import job_for, session, told

from runner.browser.faults import StateFault
from runner.browser.trace import Click, StateFaultStep, Step

INCIDENT = json.loads((Path(__file__).resolve().parents[1] / "data/browser/cart_store/incident.json").read_text())
QUOTA = ("pageerror", "Cannot read properties of null (reading 'when')")
QUOTA_REJECTED = ("unhandled_rejection", QUOTA[1])
REHYDRATE = ("pageerror", "Cannot read properties of undefined (reading 'reduce')")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def steps() -> list[Step]:
    found: list[Step] = []
    for item in INCIDENT["replay_trace"]:
        fields = {name: value for name, value in item.items() if name != "kind"}
        found.append(StateFaultStep(**fields) if item["kind"] == "state_fault" else Click(**fields))
    return found


def faults() -> tuple[StateFault, ...]:
    return tuple(StateFault(item["fault_type"], item["storage_area"], item["key"], item["injected_value"],
                            item["details_meta"].get("offset_ms", 0)) for item in INCIDENT["state_faults"])


@pytest.mark.parametrize(("options", "bugs"), [
    ((), {"quota", "rehydrate"}), (("--fixed",), set()), (("--fix-only", "quota"), {"rehydrate"}),
    (("--fix-only", "rehydrate"), {"quota"})])
def test_each_bug_shows_by_itself(browser, tmp_path, options, bugs):
    with application("browser/cart_store", "/healthz", *options) as url:
        outcome = session(browser, job_for(url + "/", *steps(), state_faults=faults()), tmp_path)
    assert outcome.state == "done"
    assert [record.state for record in outcome.steps] == ["done"] * 7
    failures = told(outcome)
    assert bool({QUOTA, QUOTA_REJECTED} & set(failures)) is ("quota" in bugs)
    assert (REHYDRATE in failures) is ("rehydrate" in bugs)
    assert not any("injected" in message for _, message in failures)
    assert ("collapsed" in outcome.state_faults[3].details) is ("rehydrate" in bugs)
    injected = [signal for signal in outcome.signals if signal.own == "injected"]
    assert bool(injected) is ("quota" in bugs)
    assert outcome.state_faults[0].original_value.startswith('{"items"')
