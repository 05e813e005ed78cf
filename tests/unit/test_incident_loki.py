"""LOKI's incidents: every sample loads, every loss is told, and a wrong type is one line that names the key."""

from __future__ import annotations

import base64
import json
import re
import shutil
from pathlib import Path

import pytest
from incident_samples import DATA, sample

from runner.browser.faults import ApiFault
from runner.browser.job import Race
from runner.browser.trace import Click, StateFaultStep, Throttle, UiFreezeStep
from runner.errors import ReportError
from runner.incidents.loki.har import MAX_HAR_BYTES, same_url
from runner.incidents.model import Incident
from runner.incidents.read import incident_file, is_incident, parse_incident, read_incident

ITEMS = "pageerror: Cannot read properties of undefined (reading 'items') at HTMLButtonElement.<anonymous> /"
REPORT = "http_error: http://127.0.0.1:8801/api/report 500"


def document(**changes: object) -> dict[str, object]:
    return {**json.loads((DATA / "loki/crash/incident.json").read_text()), "har_file": None, **changes}


def loaded(**changes: object) -> Incident:
    return parse_incident(json.dumps(document(**changes)).encode())


@pytest.mark.parametrize(("name", "steps", "keys"), [
    ("loki/crash", 8, [ITEMS, "http_error: GET http://127.0.0.1:8801/api/report 500"]),
    ("loki/race", 0, ["race: POST http://127.0.0.1:8801/api/redeem"]),
    ("loki/extra/incident-network-tormentor.json", 11, [ITEMS, REPORT]),
    ("loki/extra/incident-novice-chaotic.json", 30, [REPORT]),
    ("loki/extra/incident-swarm.json", 28, [ITEMS, REPORT]),
    ("loki/extra/incident-adversary.json", 33, [REPORT]),
    ("browser/benefits_form", 10, ["http_error: http://127.0.0.1:8811/apply/3 500"]),
    ("browser/cart_store", 7, [ITEMS.replace("undefined", "null").replace("items", "when"),
                               "pageerror: Cannot read properties of undefined (reading 'reduce')"]),
    ("browser/wallet_race", 0, ["race: POST http://127.0.0.1:8815/api/withdraw"]),
])
def test_every_sample_loads_with_its_failures(name: str, steps: int, keys: list[str]) -> None:
    incident = sample(name)
    assert incident.source == "loki"
    assert len(incident.trace) == steps
    assert [failure.identity.key for failure in incident.failures] == keys
    assert sum(isinstance(step, StateFaultStep) for step in incident.trace) == len(incident.state_faults)


def test_a_directory_and_its_file_are_the_same_incident() -> None:
    one, other = read_incident(DATA / "loki/crash"), read_incident(DATA / "loki/crash/incident.json")
    assert (one.sha256, one.trace, one.failures) == (other.sha256, other.trace, other.failures)
    assert incident_file("~/x").startswith("/")


def test_a_crash_of_the_sample_keeps_everything_that_replays_it() -> None:
    incident = sample("loki/crash")
    assert (incident.persona, incident.seed, incident.browser, incident.duration_seconds) == (
        "RageClicker", 7, "chromium", 6.9)
    assert incident.trace[0] == Click("#pay", True, 5, 50)
    assert (incident.pace, incident.race, incident.device, incident.landscape) == ("recorded", None, None, False)
    assert incident.failures[0].count == 2
    assert incident.failures[1].count == 10


def test_what_faults_really_answered() -> None:
    faults = sample("loki/extra/incident-network-tormentor.json").api_faults
    kinds = [(fault.fault_type, fault.from_step, fault.status, fault.delay_ms) for fault in faults]
    assert kinds == [("delay", -1, None, 2001), ("token_invalidation", -1, None, 0), ("token_corruption", 2, None, 0),
                     ("cookie_eviction", 4, None, 0), ("status_code", 4, 502, 0), ("schema_strip", 4, 500, 0)]
    assert faults[4].body is not None
    assert json.loads(base64.b64decode(faults[4].body))["status"] == 502
    assert faults[5].details == 'dropped "error"'
    assert faults[5].original_status == 500


@pytest.mark.parametrize(("body", "answered"), [
    ("{'error': 'gone', 'ok': None, 'n': [True, 1.5]}", b'{"error": "gone", "ok": null, "n": [true, 1.5]}'),
    ({"a": "\u00e9"}, b'{"a": "\\u00e9"}'), ("plain", b"plain"), ("{'a': open('x')}", b"{'a': open('x')}"),
    ("{" * 5000, b"{" * 5000), (None, b"{}"), ([], b"[]"),
])
def test_bodies_that_python_printed_are_the_json_that_was_sent(body: object, answered: bytes) -> None:
    event = {"url": "http://127.0.0.1:8801/x", "method": "GET", "fault_type": "status_code", "injected_status": 503,
             "details": "text", "body": body}
    fault = loaded(api_faults=[event]).api_faults[0]
    assert fault.body is not None
    assert (fault.status, base64.b64decode(fault.body)) == (503, answered)


def test_the_har_tells_which_request_a_fault_met_and_what_was_left_of_a_body(tmp_path: Path) -> None:
    def entry(method: str, url: str, status: int, fault: str = "", text: str = "") -> dict[str, object]:
        return {"request": {"method": method, "url": url, "headers": []},
                "response": {"status": status, "headers": [{"name": "X-Loki-Fault", "value": fault}],
                             "content": {"text": text}}}
    url = "http://127.0.0.1:8801/api/pay?session_token=s&item=7"
    hidden = url.replace("=s&", "=[REDACTED]&")
    entries = [entry("POST", hidden, 200), entry("GET", hidden, 200), {"request": 5},
               entry("POST", hidden, 502, "status_code_502"), entry("POST", hidden, 200, "stripped_keys_a", '{"b":1}'),
               entry("POST", hidden, 502, "status_code_502")]
    (tmp_path / "network.har").write_text(json.dumps({"log": {"entries": entries}}))
    events = [{"url": url, "method": "POST", "fault_type": kind, "injected_status": status, "original_status": original,
               "timestamp": float(index)}
              for index, (kind, status, original) in enumerate(
                  [("status_code", 502, None), ("schema_strip", 200, 200), ("status_code", 502, None)])]
    (tmp_path / "incident.json").write_text(json.dumps(document(api_faults=events, har_file="../../etc/passwd")))
    incident = read_incident(tmp_path)
    assert [fault.occurrence for fault in incident.api_faults] == [2, 3, 4]
    assert base64.b64decode(incident.api_faults[1].body or "") == b'{"b":1}'
    assert incident.notes == ()


@pytest.mark.parametrize("har", [b"", b"{}", b'{"log": {"entries": 5}}', b"[" * 200_000, b"\xff"])
def test_a_har_that_is_none_is_told_and_not_used(tmp_path: Path, har: bytes) -> None:
    shutil.copy(DATA / "loki/crash/incident.json", tmp_path)
    (tmp_path / "network.har").write_bytes(har)
    incident = read_incident(tmp_path)
    assert len(incident.notes) == 1
    assert incident.notes[0].startswith("network.har is not used: ")
    assert incident.failures[1].identity.method == ""


def test_a_har_is_read_up_to_its_limit(tmp_path: Path) -> None:
    shutil.copy(DATA / "loki/crash/incident.json", tmp_path)
    with (tmp_path / "network.har").open("wb") as file:
        file.truncate(MAX_HAR_BYTES + 1)
    assert "larger than 32 MiB" in read_incident(tmp_path).notes[0]


@pytest.mark.parametrize(("recorded", "url", "same"), [
    ("http://h/a?t=[REDACTED]&i=1", "http://h/a?t=secret&i=1", True),
    ("http://h/a?t=[REDACTED]&i=1", "http://h/a?t=x&j=1", False),
    ("http://h/a?t=[REDACTED]", "http://h/a?t=x&more=1", False),
    ("http://h/" + "[REDACTED]" * 300 + "x", "http://h/" + "a" * 5000, False),
])
def test_a_redacted_url_stands_for_any_value(recorded: str, url: str, same: bool) -> None:
    assert same_url(recorded, url) is same


def fault(kind: str, **fields: object) -> dict[str, object]:
    return {"storage_area": "", "fault_type": kind, **fields}


def test_state_faults_without_a_step_are_placed_as_loki_does() -> None:
    click = {"kind": "click", "selector": "#a"}
    marked = {"kind": "state_fault", "fault_type": "type_swap", "target": "localStorage.b"}
    incident = loaded(
        replay_trace=[click, marked],
        state_faults=[fault("poisoned_reload"), fault("clock_drift", injected_value="+3600s"),
                      fault("type_swap", target="localStorage.a", injected_value="0"),
                      fault("type_swap", target="localStorage.b", injected_value="1")])
    assert [getattr(step, "target", step.kind) for step in incident.trace] == [
        "", "localStorage.a", "click", "localStorage.b", ""]
    assert [(each.fault_type, each.storage_area, each.key) for each in incident.state_faults] == [
        ("clock_drift", "clock", "Date.now"), ("type_swap", "localStorage", "a"), ("type_swap", "localStorage", "b"),
        ("poisoned_reload", "lifecycle", "window.location.reload")]
    assert incident.state_faults[0].offset_ms == 3_600_000
    assert "3 state faults have no step" in incident.notes[0]


def test_a_state_fault_step_without_entry_and_redacted_values_are_told() -> None:
    steps = [{"kind": "state_fault", "fault_type": "clock_drift", "details": "Shifted by 7200s (7200000ms)"},
             {"kind": "state_fault", "fault_type": "schema_rot", "target": "sessionStorage.me"}]
    incident = loaded(replay_trace=steps, state_faults=[fault("schema_rot", key="me", storage_area="sessionStorage",
                                                             injected_value="[REDACTED]")])
    assert incident.state_faults[0].offset_ms == 7_200_000
    assert len(incident.notes) == 2
    assert "'me'" in incident.notes[1]


def test_devices_turned_and_not() -> None:
    turned = loaded(device="iPhone 15 landscape", orientation="landscape")
    assert (turned.device, turned.landscape) == ("iPhone 15", True)
    assert loaded(device="Desktop Chrome").device == "Desktop Chrome"


def test_every_step_kind_and_its_defaults() -> None:
    incident = loaded(replay_trace=[{"kind": "click", "selector": "#a", "force": None}, {"kind": "throttle"},
                                    {"kind": "ui_freeze", "details": {"type": "blank", "reason": "why"}},
                                    {"kind": "offline", "value": True, "later_key": 1}])
    assert incident.trace[:3] == (Click("#a", True, 1, 100), Throttle(1200), UiFreezeStep("blank", "why"))


def test_a_race_with_lanes_that_were_refused_has_its_race_only() -> None:
    incident = sample("loki/race")
    assert incident.race == Race(3, "#redeem")
    assert len(incident.lanes) == 3
    refused = loaded(replay_trace=[], concurrency=2,
                     crashes=["[lane 1] Navigation error: net::ERR", "[lane 0] boom"],
                     http_errors=["[lane 1] HTTP 409 on http://h/x", "[lane 0] HTTP 500 on http://h/x"],
                     concurrency_lanes=[
                         {"lane": 0, "responses": [{"url": "http://h/x", "status": 500, "method": "PUT"}]}])
    assert [failure.identity.key for failure in refused.failures] == [
        "pageerror: Cannot read properties of undefined (reading 'items') at HTMLButtonElement.<anonymous> /",
        "pageerror: boom", "http_error: PUT http://h/x 500"]
    assert refused.notes[0] == "LOKI itself could not go on: Navigation error: net::ERR"


def test_what_only_a_lane_tells_of_is_a_failure_too_and_nothing_counts_twice() -> None:
    lane = {"lane": 1, "crashes": ["boom", "Console error: bad"],
            "responses": [{"url": "http://h/x", "status": 500, "method": "PUT"}]}
    fields = {"replay_trace": [], "unhandled_rejections": [], "console_errors": [], "concurrency": 2,
              "concurrency_lanes": [lane, {**lane, "lane": 0, "crashes": []}]}
    keys = {"pageerror: boom": 1, "console_error: bad": 1, "http_error: PUT http://h/x 500": 2}
    alone = loaded(**fields, crashes=[], http_errors=[])
    assert {failure.identity.key: failure.count for failure in alone.failures} == keys
    both = loaded(**fields, crashes=["[lane 1] boom", "[lane 1] Console error: bad"],
                  http_errors=["[lane 0] HTTP 500 on http://h/x", "[lane 1] HTTP 500 on http://h/x"])
    assert both.failures == alone.failures


def test_an_object_that_was_rejected_is_one_failure() -> None:
    incident = loaded(crashes=["Object", "boom", "Array(2)"], http_errors=[], console_errors=[],
                      unhandled_rejections=['Unhandled Promise Rejection: {"code":7}'])
    assert [failure.identity.message for failure in incident.failures] == ['{"code":7}', "boom"]
    assert [failure.identity.message for failure in loaded(
        crashes=["Object"], unhandled_rejections=[], http_errors=[], console_errors=[]).failures] == ["Object"]


def test_the_other_lists() -> None:
    incident = loaded(
        crashes=[], unhandled_rejections=["Unhandled Promise Rejection: nope"], http_errors=[], console_errors=[
            "Failed to load resource: the server responded with a status of 404", "save failed: nope", "nope"],
        failed_requests=["[GET] http://127.0.0.1:8801/a (fetch) - net::ERR_ABORTED",
                         "[GET] http://127.0.0.1:8801/b (fetch) - net::ERR_EMPTY_RESPONSE",
                         "[GET] https://cdn.example/c.js (script) - net::ERR_NAME_NOT_RESOLVED"],
        navigation_errors=["Application error page detected by title: 'Server Error' (http://127.0.0.1:8801/x)"],
        resource_failures=["Failed to load <IMG> resource: http://127.0.0.1:8801/b.png",
                           "Broken image in DOM (0px natural width): http://127.0.0.1:8801/b.png"],
        unexpected_dialogs=["Unexpected alert dialog: 'You won 123456'"],
        layout_issues=["[UI Freeze / Blank Screen] Page body is completely blank",
                       "Missing <meta name='viewport'> tag"])
    assert [failure.identity.key for failure in incident.failures] == [
        "pageerror: nope", "console_error: save failed: nope",
        "failed_request: GET http://127.0.0.1:8801/b: net::ERR_EMPTY_RESPONSE",
        "resource_failure: http://127.0.0.1:8801/b.png: img",
        ("navigation_error: http://127.0.0.1:8801/x: Application error page detected by title: 'Server Error'"
         " (http://127.0.0.1:8801/x)"),
        "dialog: alert You won {n}", "ui_freeze", "layout: Missing <meta name='viewport'> tag"]


def test_injected_answers_are_no_failures_but_the_applications_own_are() -> None:
    def event(kind: str, path: str, injected: int, original: int | None = None) -> dict[str, object]:
        return {"url": f"http://127.0.0.1:8801/{path}", "fault_type": kind, "injected_status": injected,
                "status": injected, "original_status": original}
    incident = loaded(
        crashes=[], unhandled_rejections=[], console_errors=[],
        http_errors=[f"HTTP {status} (Reason) on http://127.0.0.1:8801/{path}" for status, path in
                     [(502, "a"), (500, "b"), (500, "b"), (500, "c"), (401, "d"), (403, "e")]],
        api_faults=[event("status_code", "a", 502), event("status_code", "b", 500),
                    event("schema_strip", "c", 500, 500), event("401_unauthorized", "d", 401)])
    assert [(failure.identity.url[-1], failure.count) for failure in incident.failures] == [("b", 1), ("c", 1)]


@pytest.mark.parametrize(("changes", "line"), [
    ({"crashes": "boom"}, 'crashes: is "boom": expected to be a valid array'),
    ({"crashes": [5]}, "crashes[0]: is 5: expected to be a valid string"),
    ({"target_url": "javascript:alert(1)"}, 'target_url: is "javascript:alert(1)", expected an http or https URL'),
    ({"target_url": "http://h/\n"}, 'target_url: is "http://h/\\n", expected an http or https URL'),
    ({"target_url": None}, "target_url: is null: expected to be a valid string"),
    ({"seed": "7"}, 'seed: is "7": expected to be a valid integer'),
    ({"seed": True}, "seed: is true: expected to be a valid integer"),
    ({"browser": "netscape"}, "browser: is \"netscape\": expected to be 'chromium', 'firefox' or 'webkit'"),
    ({"replay_trace": [{"kind": "hover"}]}, 'replay_trace[0].kind: is "hover", expected one of click, fill, press'),
    ({"replay_trace": [{"kind": ["click"]}]}, "replay_trace[0].kind: is an array, expected one of"),
    ({"replay_trace": [{"kind": "click"}]}, "replay_trace[0].selector: is missing"),
    ({"replay_trace": [{"kind": "click", "selector": "#a", "repeat": 1e9}]}, "replay_trace[0].repeat: is 1000000000.0"),
    ({"replay_trace": [{"kind": "click", "selector": "#a", "repeat": 99999}]}, "replay_trace[0]: repeats 99999 times"),
    ({"replay_trace": [{"kind": "click", "selector": ""}]}, "replay_trace[0].selector: has 0 characters"),
    ({"replay_trace": [{"kind": "throttle", "latency_ms": -1}]}, "replay_trace[0].latency_ms: is -1"),
    ({"replay_trace": [5]}, "replay_trace[0]: is 5: expected to be an object"),
    ({"api_faults": [{"url": "http://h/", "fault_type": "gravity"}]}, 'api_faults[0].fault_type: is "gravity"'),
    ({"api_faults": [{}] * 2001}, "api_faults: is an array: has 2001 items, at most 2000 are allowed"),
    ({"state_faults": [{"fault_type": "clock_drift", "details_meta": 5}]}, "state_faults[0].details_meta: is 5"),
    ({"concurrency": 2}, "replay_trace: has steps although concurrency is above 1, expected none"),
    ({"concurrency": 10**6}, "concurrency: is 1000000: expected to be less than or equal to 64"),
    ({"concurrency_lanes": [{"lane": -1}]}, "concurrency_lanes[0].lane: is -1"),
    ({"duration_seconds": float("nan")}, "has nan, expected only finite numbers"),
    ({"orientation": "sideways"}, 'orientation: is "sideways"'),
    ({"har_file": {}, "run_id": 5}, "run_id: is 5"),
])
def test_a_wrong_type_is_one_line_that_names_the_key(changes: dict[str, object], line: str) -> None:
    with pytest.raises(ReportError, match=re.escape(line)) as caught:
        loaded(**changes)
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(("raw", "line"), [
    (b"", "is not JSON"), (b"[]", "holds an array, expected an object"), (b"\xff", "is not UTF-8"),
    (b'{"persona": 1}', "is no incident: it lacks replay_trace and target_url"), (b"[" * 1000, "nested deeper"),
    (b'{"persona": 1, "persona": 2}', "twice in one object"),
])
def test_what_is_no_incident_is_refused(raw: bytes, line: str) -> None:
    with pytest.raises(ReportError, match=re.escape(line)):
        parse_incident(raw)


def test_the_file_itself_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"incident\.json: cannot be read: No such file"):
        read_incident(tmp_path)
    (tmp_path / "incident.json").symlink_to("/etc/passwd")
    with pytest.raises(ReportError, match="is a symbolic link"):
        read_incident(tmp_path)
    assert not is_incident({"schema_version": 1})
    assert is_incident(document())


def test_keys_of_newer_versions_are_tolerated() -> None:
    assert loaded(ai_summary={"x": [1]}).failures == sample("loki/crash").failures[:1] + loaded().failures[1:]
    assert isinstance(loaded(api_faults=[{"url": "http://h/", "fault_type": "delay", "details": {"delay_ms": "soon"}}])
                      .api_faults[0], ApiFault)
