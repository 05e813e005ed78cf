"""What a driver says is a claim: anything odd in it ends the run without a verdict."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import pytest
from incident_samples import lanes, played, sample, thrown

from runner.browser.faults import ApiFault
from runner.browser.outcome import Outcome, write_outcome
from runner.browser.trace import Fill
from runner.errors import NoVerdict
from runner.incidents.outcomes import MAX_OUTCOME_BYTES, MAX_TEXT, MOST_RESPONSES, parse_outcome

CART = sample("browser/cart_store")
GOOD = played(CART, thrown("boom"), lanes=lanes("POST", "http://h/x", 200, 409), spread_ms=1.5,
              uncontrolled=("worker",),
              dropped=(("console_error", 7),), files=("replay.webm", "shot-0.png"),
              api_faults=(ApiFault("status_code", "GET", "http://h/", 1, status=500, body="e30="),))


def changed(*path: str | int, value: Any) -> bytes:
    document: Any = json.loads(write_outcome(GOOD))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(document).encode()


def test_what_was_written_is_what_is_read() -> None:
    assert parse_outcome(write_outcome(GOOD)) == GOOD
    bare = Outcome("not_ready", "nothing answered")
    assert parse_outcome(write_outcome(bare)) == bare


def test_long_values_of_steps_are_read() -> None:
    outcome = replace(GOOD, trace=(Fill("#a", "x" * (1 << 20)), *GOOD.trace[1:]))
    assert parse_outcome(write_outcome(outcome)) == outcome


def test_half_a_character_becomes_the_replacement_character() -> None:
    outcome = replace(GOOD, detail="a\ud800b\U0001f600")
    assert parse_outcome(write_outcome(outcome)).detail == "a\ufffdb\U0001f600"


@pytest.mark.parametrize(("raw", "line"), [
    (b"", "is not JSON"), (b"[]", "is no object"), (b"{}", "state: is missing"), (b"\xff", "is not UTF-8"),
    (b"[" * 500, "nested deeper"), (b'{"a":1,"a":2}', "twice"),
    (changed("state", value="fine"), 'state: is "fine"'),
    (changed("extra", value=1), "keys that an outcome does not have"),
    (changed("signals", 0, "extra", value=1), "keys that an outcome does not have"),
    (changed("signals", 0, "step", value="0"), 'signals[0].step: is "0"'),
    (changed("signals", 0, "step", value=True), "signals[0].step: is true"),
    (changed("signals", 0, "step", value=7), "a step or time that was not"),
    (changed("signals", 0, "step", value=-2), "a step or time that was not"),
    (changed("signals", 0, "at_ms", value=-1), "a step or time that was not"),
    (changed("signals", 0, "at_ms", value=float("inf")), "has inf"),
    (changed("signals", 0, "status", value=10**6), "a status that is none"),
    (changed("signals", 0, "status", value=10**30), "beyond 64 bits"),
    (changed("signals", 0, "own", value="forgiven"), "signals[0].own"),
    (changed("signals", 0, "message", value="x" * (MAX_TEXT + 1)), "message: has 65537 characters"),
    (changed("signals", 0, "screenshot", value="../../etc/passwd"), "a file name that is not plain"),
    (changed("files", value=["a/b"]), "a file name that is not plain"),
    (changed("files", value=[".."]), "a file name that is not plain"),
    (changed("files", value=["a\n"]), "a file name that is not plain"),
    (changed("files", value=["a"] * 4001), "files: has 4001 items"),
    (changed("signals", value=[{}] * 2001), "signals: has 2001 items"),
    (changed("trace", 0, "kind", value="hover"), "trace[0]"),
    (changed("steps", 1, "index", value=0), "do not follow"),
    (changed("steps", 1, "ended_ms", value=0), "do not follow"),
    (changed("lanes", 0, "lane", value=-1), "below the first"),
    (changed("lanes", 0, "responses", value=[asdict(GOOD.lanes[0].responses[0])] * (MOST_RESPONSES + 1)),
     "too many"),
    (changed("api_faults", 0, "body", value="!"), "api_faults[0].body: is not base64"),
    (changed("duration_ms", value=-1), "negative"), (changed("dropped", value=[["x", -1]]), "negative"),
    (b" " * (MAX_OUTCOME_BYTES + 1), "expected at most"),
])
def test_anything_odd_is_refused_on_one_line(raw: bytes, line: str) -> None:
    with pytest.raises(NoVerdict) as caught:
        parse_outcome(raw)
    assert line in caught.value.message
    assert caught.value.message.startswith("the driver's outcome.json: ")
    assert caught.value.message.isprintable()
