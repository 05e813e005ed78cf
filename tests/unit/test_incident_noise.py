"""What is taken for noise, by which rule, and what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.browser.faults import ApiFault, StateFault
from runner.browser.outcome import Signal
from runner.browser.trace import Click, CookieEviction, Offline
from runner.incidents.failures import sort_signals, together
from runner.incidents.noise import RULES, Session, noise_rule

TRACE = (Click("#a"), Offline(True), Click("#b"), Offline(False), Click("#c"), CookieEviction(1), Click("#d"))
PAGE = "http://127.0.0.1:8801/"
FULL = (StateFault("quota_exceeded", "Storage"),)
OFFLINE = "net::ERR_INTERNET_DISCONNECTED"


def request(message: str, url: str = PAGE + "api", step: int = 0, kind: str = "failed_request",
            **fields: object) -> Signal:
    signal = Signal(kind, step, 1.0, message, method="GET", url=url, page=PAGE)  # type: ignore[arg-type]
    return replace(signal, **fields)  # type: ignore[arg-type]


def refused(status: int, step: int, url: str = PAGE + "api/me") -> Signal:
    return request(f"HTTP {status} on {url}", url, step, "http_error", status=status)


THROWN = Signal("pageerror", 2, 1.0, "boom", page=PAGE)


@pytest.mark.parametrize(("signal", "rule"), [
    (refused(404, 0, PAGE + "favicon.ico"), "favicon"),
    (request("HTTP 404", PAGE + "x.ico", kind="http_error", status=404, own="favicon"), "favicon"),
    (refused(404, 0, PAGE + "logo.ico"), None),
    (request("HTTP 502", kind="http_error", status=502, own="injected"), "injected"),
    (Signal("pageerror", 3, 1.0, "QuotaExceededError: nope"), "quota"),
    (Signal("console_error", 3, 1.0, "save failed: Setting the value of 'a' exceeded the quota."), "quota"),
    (Signal("pageerror", 3, 1.0, "the disk is full"), None),
    (request(OFFLINE, step=0), None),
    (request(OFFLINE, step=1), "offline"),
    (request(OFFLINE, step=3), "offline"),
    (request(OFFLINE, step=4), None),
    (request("net::ERR_EMPTY_RESPONSE", step=2), None),
    (request("Failed to load <IMG>", step=2, kind="resource_failure", resource="img"), "offline"),
    (request("Navigated to browser error page", "chrome-error://chromewebdata/", 2, "navigation_error"), "offline"),
    (request("Navigated to browser error page", "chrome-error://chromewebdata/", 4, "navigation_error"), None),
    (refused(401, 4), None), (refused(401, 5), "credentials"), (refused(403, 6), "credentials"),
    (refused(500, 6), None),
    (request("net::ERR_FAILED", own="navigation"), "navigation"),
    (Signal("dialog", 0, 1.0, "Unexpected beforeunload dialog: ''", own="navigation"), "navigation"),
    (request("net::ERR_FAILED", own="closing"), "closing"),
    (request("net::ERR_ABORTED"), "aborted"), (request("NS_BINDING_ABORTED"), "aborted"),
    (request("cancelled"), "aborted"),
    (request("net::ERR_NAME_NOT_RESOLVED", "https://cdn.example/a.js"), "no_network"),
    (request("Failed to load", "https://cdn.example/a.js", kind="resource_failure"), "no_network"),
    (request("net::ERR_NAME_NOT_RESOLVED", "https://cdn.example/a.js", page="https://shop.example/"), None),
    (request("net::ERR_CONNECTION_REFUSED", "http://127.0.0.1:9/"), None),
    (Signal("console_error", 0, 1.0, "Failed to load resource: net::ERR_FAILED"), "echo"),
    (Signal("console_error", 0, 1.0, "Error: boom"), "echo"),
    (Signal("console_error", 0, 1.0, "anything", own="console_echo"), "echo"),
    (Signal("console_error", 0, 1.0, "could not save"), None),
    (request("Failed to load <IMG>", PAGE + "gone.png", kind="resource_failure"), "echo"),
    (request("Failed to load <IMG>", PAGE + "other.png", kind="resource_failure"), None),
    (request("error page by title", PAGE + "gone.png", kind="navigation_error"), "echo"),
    (Signal("ui_freeze", 2, 1.0, "blank"), "echo"), (Signal("ui_freeze", 0, 1.0, "blank"), None),
    (THROWN, None), (Signal("layout", 0, 1.0, "wide"), None), (Signal("dialog", 0, 1.0, "x"), None),
])
def test_rules(signal: Signal, rule: str | None) -> None:
    session = Session(TRACE, (), FULL, (THROWN, refused(404, 0, PAGE + "gone.png"), signal))
    found = noise_rule(signal, session)
    assert (found.name if found is not None else None) == rule


def test_refusals_are_noise_in_a_race_only() -> None:
    assert noise_rule(refused(409, 0), Session(raced=True)) is not None
    assert noise_rule(refused(500, 0), Session(raced=True)) is None
    assert noise_rule(refused(409, 0), Session()) is None


def test_credentials_taken_by_a_fault_count_from_its_step_on() -> None:
    session = Session((), (ApiFault("token_invalidation", "GET", PAGE, step=3),))
    assert noise_rule(refused(401, 2), session) is None
    assert noise_rule(refused(401, 3), session) is not None


def test_without_times_what_was_done_once_holds_for_all() -> None:
    session = Session(TRACE, signals=(THROWN,), timed=False)
    assert noise_rule(request(OFFLINE, step=0), session) is not None
    assert noise_rule(refused(401, 0), session) is not None
    assert noise_rule(Signal("ui_freeze", 2, 1.0, "blank"), session) is None


def test_every_rule_says_why() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.why for rule in RULES)


def test_signals_of_one_failure_are_counted_once_under_its_fuller_name() -> None:
    plain = Signal("pageerror", 1, 5.0, "boom")
    stacked = Signal("unhandled_rejection", 2, 6.0, "Error: boom", "Error: boom\n    at f (http://h/a.js:1:1)")
    elsewhere = Signal("pageerror", 3, 7.0, "boom", "Error: boom\n    at g (http://h/a.js:1:1)")
    first, second = together([plain, stacked, elsewhere, stacked])
    assert (first.identity.frames, first.step, first.at_ms, first.count, first.sample) == (
        ("f /a.js",), 1, 5.0, 3, plain)
    assert (second.identity.frames, second.count) == (("g /a.js",), 1)


def test_noise_and_echoes_are_counted_with_their_first() -> None:
    signals = [THROWN, Signal("ui_freeze", 2, 2.0, "blank"), request("net::ERR_ABORTED"), request("net::ERR_ABORTED")]
    found = sort_signals(signals, Session(signals=signals))
    assert [failure.identity.message for failure in found.failures] == ["boom"]
    assert [failure.identity.kind for failure in found.echoes] == ["ui_freeze"]
    assert [(each.rule, each.count, each.first) for each in found.noise] == [
        ("echo", 1, "ui_freeze"), ("aborted", 2, f"failed_request: GET {PAGE}api: net::ERR_ABORTED")]
