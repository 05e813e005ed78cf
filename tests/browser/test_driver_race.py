"""Races in a real Chromium: lanes that click together, against applications with and without a lock."""

from __future__ import annotations

import asyncio
import hashlib
import json
import statistics
import time
from dataclasses import replace
from urllib.request import urlopen

import pytest
from applications import application
from chromium import chromium
from driving import dead, job_for, session
from small_server import HTML, Reply, serving

from runner.browser.job import Race, Ready
from runner.driver.launch import device_of
from runner.driver.race import run

RACES = 5
BUY = b"""<!doctype html><link rel=icon href=data:,><p class=status>ready</p><button id=buy>Buy</button><script>
fetch('/hello', {method: 'POST'});
document.getElementById('buy').addEventListener('click', async (event) => {
  window.trusted = event.isTrusted;
  const answer = await fetch('/buy', {method: 'POST', headers: {'idempotency-key': 'order-1'}});
  document.querySelector('.status').textContent = 'bought ' + answer.status;
  await fetch('/nothing');
  setTimeout(() => { throw new TypeError('after the sale'); });
});
</script>"""
LEAVE = b"""<!doctype html><link rel=icon href=data:,><form method=post action=/done><button>Send</button></form>"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def shop():
    with serving({"/shop": Reply(BUY, HTML), "/leave": Reply(LEAVE, HTML), "/buy": Reply(b'{"sold": 1}'),
                  "/hello": Reply(b"{}"), "/done": Reply(b"<!doctype html><p role=alert>sent", HTML),
                  "/none": Reply(b"<!doctype html><button hidden>x</button>", HTML)}) as app:
        yield app


def race(browser, url, tmp_path, lanes=3, selector=None, **changes):
    own = changes.pop("own_browser", False)
    job = replace(job_for(url, race=Race(lanes, selector, own), **changes), mode="race")
    return session(browser, job, tmp_path)


def statuses(outcome):
    return sorted(answer.status for lane in outcome.lanes for answer in lane.responses)


def state_of(url):
    with urlopen(url, timeout=5) as answer:
        return json.load(answer)


@pytest.mark.parametrize(("options", "seen", "balance"), [
    ((), [200, 200, 200], -140), (("--fixed",), [200, 409, 409], 20), (("--spent",), [409, 409, 409], 20),
    (("--other",), [200, 500, 500], 20)])
def test_three_withdrawals_at_once(browser, tmp_path, options, seen, balance):
    with application("browser/wallet_race", "/healthz", *options) as url:
        outcome = race(browser, url + "/", tmp_path, selector="#withdraw")
        assert (outcome.state, outcome.detail) == ("done", "")
        assert statuses(outcome) == seen
        assert state_of(url + "/api/balance")["balance"] == balance
    assert {lane.final_text for lane in outcome.lanes} <= {"paid", "not enough"}
    assert [lane.lane for lane in outcome.lanes] == [0, 1, 2]
    assert sorted(signal.status for signal in outcome.signals if signal.kind == "http_error") == [
        status for status in seen if status >= 400]
    assert {signal.lane for signal in outcome.signals} <= {0, 1, 2}


def test_a_coupon_is_redeemed_by_every_lane_and_again_after_a_reset(browser, tmp_path):
    with application("loki/race", "/api/state") as url:
        first = race(browser, url + "/coupon", tmp_path, selector="#redeem")
        second = race(browser, url + "/coupon", tmp_path, selector="#redeem")
        third = race(browser, url + "/coupon", tmp_path, selector="#redeem", reset="/api/reset")
        assert [statuses(outcome) for outcome in (first, second, third)] == [[200] * 3, [409] * 3, [200] * 3]
        assert state_of(url + "/api/state")["redeemed"] == 3


def test_a_lane_without_its_element_diverges_and_nobody_clicks(browser, tmp_path):
    with application("browser/wallet_race", "/healthz", "--diverged") as url:
        outcome = race(browser, url + "/", tmp_path, selector="#withdraw")
        assert outcome.state == "diverged"
        assert "#withdraw" in outcome.detail
        assert state_of(url + "/api/balance")["balance"] == 100
    assert [(lane.missing, lane.clicked_ms, lane.responses) for lane in outcome.lanes] == [(True, None, ())] * 3
    assert outcome.spread_ms is None


def test_a_dead_application_is_not_ready_and_no_race(browser, tmp_path):
    outcome = race(browser, dead(), tmp_path, ready=Ready(timeout=0.2))
    assert (outcome.state, statuses(outcome)) == ("not_ready", [])


def test_what_a_lane_tells(browser, shop, tmp_path):
    shop.asked.clear()
    outcome = race(browser, shop.url + "/shop", tmp_path, lanes=2)
    assert outcome.state == "done"
    for lane in outcome.lanes:
        bought, nothing = lane.responses
        assert (bought.method, bought.url, bought.status) == ("POST", shop.url + "/buy", 200)
        assert bought.idempotency_key == "order-1"
        assert bought.body_sha256 == hashlib.sha256(b'{"sold": 1}').hexdigest()
        assert (nothing.method, nothing.status) == ("GET", 404)
        assert lane.crashes == ("after the sale",)
        assert lane.final_text == "bought 200"
        assert abs(lane.clicked_ms - time.time() * 1000) < 120_000
    assert shop.count("/buy") == 2
    assert [signal.lane for signal in outcome.signals if signal.kind == "pageerror"] in ([0, 1], [1, 0])


def test_a_click_that_leaves_the_page_is_timed_and_followed(browser, shop, tmp_path):
    outcome = race(browser, shop.url + "/leave", tmp_path, lanes=2)
    assert outcome.spread_ms is not None
    assert [[(answer.method, answer.status) for answer in lane.responses] for lane in outcome.lanes] == [
        [("POST", 200)]] * 2
    assert [lane.final_text for lane in outcome.lanes] == ["sent", "sent"]


def test_a_page_without_a_visible_button_diverges(browser, shop, tmp_path):
    assert race(browser, shop.url + "/none", tmp_path, lanes=1).state == "diverged"


def test_lanes_with_browsers_of_their_own(browser, shop, tmp_path):
    before = len(browser.browser.contexts)
    outcome = race(browser, shop.url + "/shop", tmp_path, lanes=2, own_browser=True)
    assert [lane.final_text for lane in outcome.lanes] == ["bought 200"] * 2
    assert len(browser.browser.contexts) == before


@pytest.mark.parametrize("lanes", [0, 33])
def test_too_few_or_too_many_lanes_are_refused(browser, shop, tmp_path, lanes):
    async def script(running):
        job = replace(job_for(shop.url, race=Race(lanes)), mode="race")
        waiting = asyncio.get_running_loop().create_future()
        return await run(job, tmp_path, running, device_of(browser.playwright, job), waiting, lambda: None)

    assert browser.run(script).state == "refused"


def test_the_clicks_are_close_together(browser, shop, tmp_path):
    """Target of the project: a median of at most 10 ms for three lanes. Loose, because the machine may be busy."""
    spreads = [race(browser, shop.url + "/shop", tmp_path, selector="#buy").spread_ms for _ in range(RACES)]
    assert all(spread is not None for spread in spreads)
    assert statistics.median(spreads) <= 100, spreads


def test_the_reset_must_work(browser, shop, tmp_path):
    outcome = race(browser, shop.url + "/shop", tmp_path, lanes=1, reset="/no/such/path")
    assert outcome.state == "not_ready"
    assert "reset" in outcome.detail
