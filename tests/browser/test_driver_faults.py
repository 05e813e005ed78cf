"""Faults in an application's answers, in a real Chromium: recorded by chance, replayed for that very request."""

from __future__ import annotations

import base64
import json
import time
from dataclasses import replace

import pytest
from chromium import Chromium, chromium
from driving import job_for, session, told
from small_server import HTML, Reply, SmallServer, serving

from runner.browser.faults import FAULT_HEADER, REPRO_HEADER, REPRO_VALUE, ApiFault
from runner.browser.job import Chaos, Job
from runner.browser.trace import Click
from runner.driver import odds
from runner.driver.faults import CONTEXT_OPTIONS, ApiFaults
from runner.driver.odds import Asked

DATA = {"user": {"name": "Ada", "age": 36}, "items": [1, 2, 3], "note": "hi", "on": True}
BYTES = bytes(range(256))
KINDS = ("status_code", "corrupt_json", "schema_strip", "delay", "empty_response", "token_invalidation",
         "token_corruption", "401_unauthorized", "403_forbidden", "cookie_eviction")
FETCH = """async ([path, method, headers]) => {
  const answer = await fetch(path, {method, headers});
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const headers_seen = Object.fromEntries(answer.headers);
  return {status: answer.status, body: btoa(String.fromCharCode(...bytes)), headers: headers_seen};
}"""
TOKEN = {"authorization": "Bearer good"}


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def app():
    with serving({"/api/data": Reply(json.dumps(DATA).encode(), headers=(("x-total", "3"),)),
                  "/api/bytes": Reply(BYTES, "application/octet-stream"),
                  "/api/moved": Reply(b"", status=302, headers=(("location", "/api/data"),)),
                  "/set": Reply(b"{}", headers=(("set-cookie", "sid=1; Path=/"),))}) as started:
        yield started


class Session:
    """What a page got from a row of requests, and what the faults say."""

    def __init__(self) -> None:
        self.answers: list[dict] = []
        self.seconds: list[float] = []
        self.faults: ApiFaults
        self.owned: list[bool] = []


def play(browser: Chromium, app: SmallServer, job: Job, requests: list[tuple],
         steps: list[int] | None = None) -> Session:
    session = Session()
    step = [-1]

    async def script(running) -> None:
        context = await running.new_context(**CONTEXT_OPTIONS)
        session.faults = ApiFaults(job, lambda: step[0])
        await session.faults.attach(context)
        page = await context.new_page()
        page.on("response", lambda response: session.owned.append(session.faults.owns(response.request)))
        await page.goto(app.url)
        session.owned.clear()
        for index, request in enumerate(requests):
            step[0] = steps[index] if steps else index
            path, method, headers = (*request, "GET", {})[:3] if len(request) == 1 else request
            began = time.monotonic()
            session.answers.append(await page.evaluate(FETCH, [path, method, headers]))
            session.seconds.append(time.monotonic() - began)
        await session.faults.detach(context)
        await context.close()

    browser.run(script)
    return session


def body(answer: dict) -> bytes:
    return base64.b64decode(answer["body"])


def seed_for(kind: str, url: str, chaos: Chaos, occurrences: int) -> int:
    """A seed that draws this kind for the last of some requests, and nothing for those before."""
    asked = Asked("GET", url, "fetch", TOKEN)
    first = Asked("GET", url.partition("/api/")[0] + "/set", "fetch", {})
    for seed in range(100_000):
        drawn = [odds.draw(odds.generator(seed, asked, number), chaos, asked) for number in range(1, occurrences + 1)]
        drawn.insert(0, odds.draw(odds.generator(seed, first, 1), chaos, first))
        if drawn == [None] * occurrences + [kind]:
            return seed
    raise AssertionError("no such seed")


def recorded(browser: Chromium, app: SmallServer, kind: str, path: str = "/api/data") -> Session:
    """A chaos session whose third request to a path meets the fault, and no other does."""
    chaos = Chaos(api_chaos=kind in odds._GENERAL, auth_chaos=kind in odds._AUTH)
    job = Job("chaos", app.url, seed=seed_for(kind, app.url + path, chaos, 3), chaos=chaos)
    return play(browser, app, job, [("/set", "GET", {}), *[(path, "GET", TOKEN)] * 3])


@pytest.mark.parametrize("kind", KINDS)
def test_a_drawn_fault_is_written_down_and_replayed_for_exactly_that_request(browser, app, kind):
    chaos = recorded(browser, app, kind)
    (fault,) = chaos.faults.fired
    assert (fault.fault_type, fault.method, fault.url) == (kind, "GET", f"{app.url}/api/data")
    assert (fault.occurrence, fault.step) == (3, 3)
    before = app.count("/api/data")

    again = play(browser, app, Job("play", app.url, api_faults=(fault,)),
                 [("/set", "GET", {}), *[("/api/data", "GET", TOKEN)] * 4])
    assert again.faults.fired == (fault,)
    assert again.faults.unfired == ()
    assert [body(answer) for answer in again.answers[:4]] == [body(answer) for answer in chaos.answers]
    assert [answer["status"] for answer in again.answers[:4]] == [answer["status"] for answer in chaos.answers]
    untouched = [again.answers[1], again.answers[2], again.answers[4]]
    assert all(json.loads(body(answer)) == DATA and REPRO_HEADER not in answer["headers"] for answer in untouched)
    asks = kind in ("corrupt_json", "schema_strip", "delay", "cookie_eviction")
    assert app.count("/api/data") - before == (4 if asks else 3)
    made_up = kind not in ("delay", "cookie_eviction")
    assert chaos.answers[3]["headers"].get(FAULT_HEADER) == (kind if made_up else None)
    assert again.answers[3]["headers"].get(REPRO_HEADER) == (REPRO_VALUE if made_up else None)
    if made_up:
        assert base64.b64decode(fault.body) == body(chaos.answers[3])


def test_a_delay_is_a_delay_and_then_the_own_answer(browser, app):
    fault = ApiFault("delay", "GET", f"{app.url}/api/data", occurrence=2, delay_ms=600)
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)), [("/api/data",)] * 3)
    assert session.seconds[1] >= 0.6
    assert max(session.seconds[0], session.seconds[2]) < 0.6
    assert all(json.loads(body(answer)) == DATA for answer in session.answers)
    assert session.owned == [False] * 3


def test_cookies_are_gone_from_that_request_on(browser, app):
    chaos = recorded(browser, app, "cookie_eviction")
    cookies = [headers.get("cookie") for _, path, headers in app.asked if path == "/api/data"]
    assert cookies == ["sid=1", "sid=1", None]
    app.asked.clear()
    play(browser, app, Job("play", app.url, api_faults=chaos.faults.fired),
         [("/set", "GET", {}), *[("/api/data", "GET", TOKEN)] * 3])
    assert [headers.get("cookie") for _, path, headers in app.asked if path == "/api/data"] == cookies


@pytest.mark.parametrize(("kind", "sent"), [("token_invalidation", None), ("token_corruption", "Bearer invalid")])
def test_the_application_sees_worthless_credentials_in_the_recording_only(browser, app, kind, sent):
    chaos = recorded(browser, app, kind)
    assert [headers.get("authorization") for _, path, headers in app.asked if path == "/api/data"] == [
        "Bearer good", "Bearer good", sent]
    assert chaos.owned == [False, False, False, True]


def test_what_a_recording_lost_of_worthless_credentials_is_asked_again(browser, app):
    fault = ApiFault("token_corruption", "GET", f"{app.url}/api/data", occurrence=2)
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)), [("/api/data", "GET", TOKEN)] * 2)
    assert [headers["authorization"] for _, path, headers in app.asked if path == "/api/data"] == [
        "Bearer good", "Bearer invalid"]
    assert json.loads(body(session.answers[1])) == DATA
    assert session.answers[1]["headers"][REPRO_HEADER] == REPRO_VALUE
    assert session.owned == [False, True]


def test_any_bytes_come_back_as_they_were(browser, app):
    fault = ApiFault("token_corruption", "GET", f"{app.url}/api/data", occurrence=1, status=401,
                     content_type="application/octet-stream", body=base64.b64encode(BYTES).decode())
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)), [("/api/data",)] * 2)
    assert body(session.answers[0]) == BYTES
    assert session.answers[0]["headers"]["content-type"] == "application/octet-stream"
    assert session.owned == [True, False]
    assert app.count("/api/data") == 1


def test_bytes_of_the_application_are_kept_as_they_were(browser, app):
    chaos = recorded(browser, app, "token_invalidation", "/api/bytes")
    (fault,) = chaos.faults.fired
    assert base64.b64decode(fault.body) == BYTES == body(chaos.answers[3])
    assert (fault.status, fault.original_status, fault.content_type) == (200, 200, "application/octet-stream")


def test_what_is_no_json_passes_as_it_is(browser, app):
    chaos = recorded(browser, app, "corrupt_json", "/api/bytes")
    assert chaos.faults.fired == ()
    assert body(chaos.answers[3]) == BYTES
    assert app.count("/api/bytes") == 3


def test_a_mutated_answer_keeps_the_other_headers(browser, app):
    assert recorded(browser, app, "schema_strip").answers[3]["headers"]["x-total"] == "3"


def test_a_fault_without_occurrence_waits_for_its_step(browser, app):
    late = ApiFault("status_code", "GET", f"{app.url}/api/data", from_step=4, status=503)
    session = play(browser, app, Job("play", app.url, api_faults=(late, replace(late, status=502))),
                   [("/api/data",)] * 4, steps=[0, 3, 4, 5])
    assert [answer["status"] for answer in session.answers] == [200, 200, 503, 502]
    assert [(fault.occurrence, fault.step) for fault in session.faults.fired] == [(3, 4), (4, 5)]


def test_two_faults_on_one_url_hit_their_own_requests_and_methods(browser, app):
    first = ApiFault("status_code", "GET", f"{app.url}/api/data", occurrence=2, status=500)
    faults = (first, replace(first, method="POST", occurrence=1, status=504), replace(first, occurrence=9))
    session = play(browser, app, Job("play", app.url, api_faults=faults),
                   [("/api/data",), ("/api/data", "POST", {}), ("/api/data",), ("/api/data", "POST", {})])
    assert [answer["status"] for answer in session.answers] == [200, 504, 500, 200]
    assert session.faults.unfired == (faults[2],)
    assert session.faults.unreached() == (f"fault not reached: status_code for request 9 of GET {app.url}/api/data",)


def test_a_mutated_answer_of_a_failing_application_is_its_own_failure(browser, app):
    fault = ApiFault("schema_strip", "GET", f"{app.url}/api/broken", occurrence=1, status=500, original_status=500)
    app.replies["/api/broken"] = Reply(b'{"error": "own"}', status=500)
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)), [("/api/broken",)])
    assert (session.answers[0]["status"], body(session.answers[0])) == (500, b"{}")
    assert session.owned == [False]
    app.replies["/api/broken"] = Reply(b'{"ok": true}')
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)), [("/api/broken",)])
    assert (session.answers[0]["status"], session.owned) == (500, [True])


def test_a_secret_cut_out_of_the_recorded_url_stands_for_any(browser, app):
    app.replies["/api/pay?token=abc&item=7"] = app.replies["/api/pay?token=abc&item=8"] = Reply(b"{}")
    fault = ApiFault("status_code", "GET", f"{app.url}/api/pay?token=[REDACTED]&item=7", occurrence=1, status=500)
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)),
                   [("/api/pay?token=abc&item=8",), ("/api/pay?token=abc&item=7",)])
    assert [answer["status"] for answer in session.answers] == [200, 500]


def test_hops_of_a_redirect_do_not_count(browser, app):
    fault = ApiFault("status_code", "GET", f"{app.url}/api/data", occurrence=2, status=500)
    session = play(browser, app, Job("play", app.url, api_faults=(fault,)),
                   [("/api/moved",), ("/api/data",), ("/api/moved",), ("/api/data",)])
    assert [answer["status"] for answer in session.answers] == [200, 200, 200, 500]


def test_overlapping_requests_draw_the_same_in_any_order(browser, app):
    everything = """async paths => { await Promise.all(paths.map(path => fetch(path).then(a => a.text()))); }"""
    paths = [f"/api/item/{number}" for number in range(12)]
    app.replies.update({path: Reply(json.dumps(DATA).encode()) for path in paths})
    chaos = Chaos(api_chaos=True, fault_rate=0.6)

    def fates(order: list[str]) -> tuple[ApiFault, ...]:
        async def nothing(ms: float) -> None:
            return

        async def script(running) -> tuple[ApiFault, ...]:
            context = await running.new_context()
            faults = ApiFaults(Job("chaos", app.url, seed=7, chaos=chaos), lambda: 0, delay=nothing)
            await faults.attach(context)
            page = await context.new_page()
            await page.goto(app.url)
            await page.evaluate(everything, order)
            await context.close()
            return faults.fired
        return browser.run(script)

    first = fates(paths)
    assert len({fault.fault_type for fault in first}) >= 3
    assert fates(paths[::-1]) == first


def test_a_page_that_leaves_during_a_delay_disturbs_nothing(browser, app):
    async def script(running) -> None:
        context = await running.new_context()
        faults = ApiFaults(Job("play", app.url, api_faults=(ApiFault(
            "delay", "GET", f"{app.url}/api/data", occurrence=1, delay_ms=300),)), lambda: 0)
        await faults.attach(context)
        page = await context.new_page()
        await page.goto(app.url)
        async with page.expect_request("**/api/data"):
            await page.evaluate("() => { fetch('/api/data'); }")
        await page.goto(app.url + "/set")
        answer = await page.evaluate(FETCH, ["/api/data", "GET", {}])
        assert json.loads(body(answer)) == DATA
        await faults.detach(context)
        await context.close()

    browser.run(script)


def test_without_faults_nothing_is_wanted(app):
    assert not ApiFaults.wanted(Job("play", app.url))
    assert not ApiFaults.wanted(Job("chaos", app.url, chaos=Chaos(state_chaos=True)))
    assert ApiFaults.wanted(Job("chaos", app.url, chaos=Chaos(auth_chaos=True)))


def test_a_fault_that_cannot_be_answered_is_refused(app):
    with pytest.raises(ValueError, match="status 99"):
        ApiFaults(Job("play", app.url, api_faults=(ApiFault("status_code", "GET", app.url, status=99),)), lambda: 0)
    with pytest.raises(ValueError):
        ApiFaults(Job("play", app.url, api_faults=(ApiFault("status_code", "GET", app.url, body="!"),)), lambda: 0)


ASKING = Reply(b"""<!doctype html><link rel=icon href=data:,><button id=ask>Ask</button><script>
document.getElementById('ask').onclick = () => fetch('/api/data');</script>""", HTML)


@pytest.mark.parametrize("pace", ["recorded", "stepped"])
def test_an_injected_failure_is_no_failure_of_the_application(browser, app, tmp_path, pace):
    app.replies["/ask"] = ASKING
    fault = ApiFault("status_code", "GET", f"{app.url}/api/data", occurrence=2, status=503)
    slow = ApiFault("delay", "GET", f"{app.url}/api/data", occurrence=3, delay_ms=400)
    never = replace(fault, occurrence=9)
    job = job_for(f"{app.url}/ask", *[Click("#ask")] * 5, api_faults=(fault, slow, never), pace=pace)
    outcome = session(browser, job, tmp_path)
    assert (outcome.state, told(outcome)) == ("done", [])
    assert [(signal.kind, signal.own, signal.status) for signal in outcome.signals] == [
        ("http_error", "injected", 503), ("console_error", "console_echo", None)]
    assert outcome.api_faults == (replace(fault, step=1), replace(slow, step=2))
    assert outcome.actions == (f"fault not reached: status_code for request 9 of GET {app.url}/api/data",)
    assert app.count("/api/data") == 4
