"""Our own incident: LOKI's keys with LOKI's meaning, and what LOKI loses."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from incident_samples import DATA, answered, lanes, played, sample, thrown

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Chaos, Job, Race, Ready
from runner.browser.outcome import BrowserFacts, Lane, Outcome, Response, Signal
from runner.browser.trace import Click, StateFaultStep, UiFreezeStep
from runner.errors import NoVerdict, ReportError
from runner.incidents.make import incident_of
from runner.incidents.model import ImagePart, Incident, OwnPart, TargetPart
from runner.incidents.read import parse_incident
from runner.incidents.write import incident_document, write_incident

CRASH = sample("loki/crash")
URL = "http://127.0.0.1:8801/"
OWN = OwnPart(tool="0.1.0", created="2026-11-30T08:00:00.000Z", payload="/apps/shop", exact="ab" * 32,
              content="cd" * 32,
              target=TargetPart(("python3", "app.py"), ImagePart("debian", "sha256:" + "1" * 64), Ready("/", 200),
                                "/reset"),
              driver_image=ImagePart("browser", "sha256:" + "2" * 64), policies=(("driver", "ef" * 32),),
              versions=(("playwright", "1.65"),))
JOB = Job("chaos", URL, pace="stepped", seed=7, device="iPhone 15", landscape=True,
          chaos=Chaos("rage-clicker", steps=3))
FAULT = ApiFault("status_code", "GET", URL + "api", 2, 0, 503, body=base64.b64encode(b'{"a": 1}').decode(), step=1)
POISON = StateFault("type_swap", "localStorage", "cart", "0", 0, "{}", "swapped")
OUTCOME = played(
    replace(CRASH, trace=(Click("#pay"), StateFaultStep("type_swap", "localStorage.cart"),
                          UiFreezeStep("blank", "why"))),
    thrown("boom"), thrown("boom", kind="unhandled_rejection"), answered(500, "GET", URL + "api/report", step=1),
    answered(500, "GET", URL + "api/report", step=1), Signal("console_error", 1, 3.0, "Failed to load resource: x"),
    Signal("failed_request", 1, 4.0, "net::ERR_ABORTED", method="GET", url=URL + "x", resource="fetch"),
    Signal("dialog", 2, 5.0, "Unexpected alert dialog: 'hi'"), Signal("ui_freeze", 2, 6.0, "the page is blank"),
    Signal("layout", 2, 7.0, "too wide"), api_faults=(FAULT,), state_faults=(POISON,), actions=("click #pay",),
    browser=BrowserFacts("chromium", "156", device="iPhone 15 landscape"), uncontrolled=("worker",),
    dropped=(("console_error", 3),), files=("network.har", "trace.zip"))
MADE = incident_of(OUTCOME, JOB, OWN, run_id="run_1", timestamp="2026-11-30T09:00:00.000000")


def again(incident: Incident, outcome: Outcome) -> Incident:
    return replace(parse_incident(write_incident(incident, outcome)), path="", sha256="")


def test_it_has_all_keys_of_lokis_and_one_more_in_lokis_order() -> None:
    theirs = json.loads((DATA / "loki/crash/incident.json").read_text())
    document = incident_document(MADE, OUTCOME)
    assert list(document) == [*theirs, "runner"]
    for key, value in theirs.items():
        if value is not None and document[key] is not None:
            assert type(document[key]) in (type(value), float), key


def test_the_lists_are_worded_and_counted_as_lokis() -> None:
    document = incident_document(MADE, OUTCOME)
    assert document["crashes"] == ["boom"]
    assert document["unhandled_rejections"] == [
        "Unhandled Promise Rejection: TypeError: boom\n    at HTMLButtonElement.<anonymous> (http://127.0.0.1:1/:3:9)"]
    assert document["http_errors"] == [f"HTTP 500 (Reason) on {URL}api/report"] * 2
    assert document["failed_requests"] == [f"[GET] {URL}x (fetch) - net::ERR_ABORTED"]
    assert document["layout_issues"] == ["too wide", "[UI Freeze / Blank Screen] the page is blank"]
    assert (document["unique_crashes_count"], document["console_errors_count"]) == (1, 1)
    assert document["total_failures_count"] == 7
    assert (document["video_file"], document["har_file"]) == (None, "network.har")
    assert (document["device"], document["orientation"], document["persona"]) == (
        "iPhone 15 landscape", "landscape", "RageClicker")
    assert document["replay_trace"][2] == {"kind": "ui_freeze", "details": {"type": "blank", "reason": "why"}}
    assert document["api_faults"][0]["body"] == {"a": 1}
    assert document["api_faults"][0]["timestamp"] == pytest.approx(1796025600.1)
    assert document["state_faults"][0]["target"] == "localStorage.cart"


def test_what_loki_loses_is_kept() -> None:
    assert [(failure.identity.kind, failure.step, failure.count) for failure in MADE.failures] == [
        ("pageerror", 0, 2), ("http_error", 1, 2), ("dialog", 2, 1), ("ui_freeze", 2, 1), ("layout", 2, 1)]
    part = incident_document(MADE, OUTCOME)["runner"]
    assert part["schema"] == "runner.incident/1"
    assert part["failures"][0]["identity"]["id"] == MADE.failures[0].identity.id
    assert part["failures"][0]["sample"]["stack"].startswith("TypeError: boom")
    assert [(each["rule"], each["count"]) for each in part["own"]["noise"]] == [("echo", 1), ("aborted", 1)]
    assert part["own"]["uncontrolled"] == ("worker",)
    assert part["api_faults"][0]["occurrence"] == 2


def test_reading_it_back_gives_the_same_incident() -> None:
    assert again(MADE, OUTCOME) == MADE


def test_a_race_comes_back_with_the_times_of_its_clicks() -> None:
    raced = tuple(replace(lane, clicked_ms=1796025600000.25 + lane.lane)
                  for lane in lanes("POST", URL + "buy", 200, 200))
    outcome = played(replace(CRASH, trace=()), Signal("pageerror", -1, 1.0, "boom", lane=1), lanes=raced, spread_ms=1.0)
    job = Job("race", URL, seed=1, race=Race(2, "#buy"))
    made = incident_of(outcome, job, OwnPart(), run_id="run_2", timestamp="")
    assert made.failures[0].identity.key == f"race: POST {URL}buy"
    assert again(made, outcome) == made
    document = incident_document(made, outcome)
    assert (document["concurrency"], len(document["concurrency_lanes"]), document["persona"]) == (2, 2, None)
    assert document["crashes"] == ["[lane 1] boom"]


def test_server_errors_that_only_lanes_tell_of_are_failures_too() -> None:
    lane = Lane(0, "#a", 1.0, crashes=("boom",), responses=(Response("POST", URL, 500),))
    job = Job("race", URL, race=Race(1))
    made = incident_of(Outcome("done", lanes=(lane,)), job, OwnPart(), run_id="", timestamp="")
    assert [failure.identity.kind for failure in made.failures] == ["http_error", "pageerror"]


def test_loki_itself_would_read_the_same_steps_and_failures() -> None:
    document = incident_document(MADE, OUTCOME)
    del document["runner"]
    theirs = parse_incident(json.dumps(document).encode())
    assert theirs.source == "loki"
    assert theirs.trace == MADE.trace
    assert {failure.identity.kind for failure in theirs.failures} >= {"pageerror", "http_error", "dialog"}


def broken(**changes: Any) -> bytes:
    document = json.loads(write_incident(MADE, OUTCOME))
    for path, value in changes.items():
        place = document
        *parents, last = path.split("__")
        for key in parents:
            place = place[int(key) if key.isdigit() else key]
        place[last] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(("raw", "line"), [
    (broken(runner=5), "runner: is 5, expected an object"),
    (broken(runner__schema="runner.incident/9"), 'runner.schema: is "runner.incident/9", expected "runner.incident/1"'),
    (broken(runner__failures__0__count="many"), 'runner.failures[0].count: is "many"'),
    (broken(runner__api_faults__0__body="?"), "runner.api_faults[0].body: is not base64"),
    (broken(runner__state_faults=[]), "runner.state_faults: has 0 entries for 1 state_fault steps"),
    (broken(runner__notes=["x"] * 4001), "runner.notes: has 4001 items"),
    (broken(replay_trace=[{"kind": "warp"}]), "replay_trace[0].kind"),
    (broken(target_url="file:///etc/passwd"), "target_url: is"),
    (broken(runner__own__target__ready__timeout="soon"), 'runner.own.target.ready.timeout: is "soon"'),
])
def test_a_damaged_one_is_refused_by_its_key(raw: bytes, line: str) -> None:
    with pytest.raises(ReportError, match=re.escape(line)):
        parse_incident(raw)


def test_an_outcome_that_contradicts_itself_makes_no_incident() -> None:
    with pytest.raises(NoVerdict, match="0 state faults in 1 steps"):
        incident_of(replace(OUTCOME, state_faults=()), JOB, OWN, run_id="", timestamp="")
