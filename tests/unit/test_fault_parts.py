"""The parts of the fault engine that need no browser: odds, damage, matching."""

from __future__ import annotations

import json
import random
import re
from collections import Counter

import pytest

from runner.browser.faults import ApiFault
from runner.browser.job import Chaos
from runner.driver import odds
from runner.driver.matching import Targets, pattern_source
from runner.driver.mutation import corrupt, other_type, strip
from runner.driver.odds import Asked

HOST = "http://127.0.0.1:8801"


def asked(url: str = "/api/pay", resource: str = "fetch", method: str = "GET", **headers: str) -> Asked:
    return Asked(method, HOST + url, resource, headers)


@pytest.mark.parametrize(("request_", "answer"), [
    (asked("/api/pay"), True), (asked("/pay"), True), (asked("/pay", "xhr"), True),
    (asked("/pay", "document"), False), (asked("/api/pay", "document"), True), (asked("/v2/x", "image"), True),
    (asked("/graphql", "document"), True), (asked("/apiary", "document"), False), (asked("/d/x.json", "script"), True),
    (asked("/api/app.js"), False), (asked("/api/app.js?v=1"), False), (asked("/api/logo.png"), False),
    (asked("/api/x?file=a.js"), True), (asked("/api/live", "eventsource"), False),
    (asked("/api/live", accept="text/event-stream"), False), (Asked("GET", "data:,x", "fetch", {}), False),
    (Asked("GET", "blob:http://127.0.0.1/api/1", "fetch", {}), False),
])
def test_which_requests_can_meet_a_fault(request_, answer):
    assert odds.eligible(request_) is answer


def rates(chaos: Chaos, request_: Asked) -> Counter[str | None]:
    return Counter(odds.draw(odds.generator(seed, request_, 1), chaos, request_) for seed in range(4000))


def test_general_faults_come_at_the_rate_and_evenly():
    counts = rates(Chaos(api_chaos=True, fault_rate=0.3), asked(authorization="Bearer x"))
    assert set(counts) == {None, *odds._GENERAL}
    assert counts[None] / 4000 == pytest.approx(0.7, abs=0.03)
    assert all(counts[kind] / 4000 == pytest.approx(0.06, abs=0.02) for kind in odds._GENERAL)


def test_faults_of_credentials_come_first_and_only_to_requests_that_have_some():
    chaos = Chaos(api_chaos=True, auth_chaos=True, fault_rate=0.3)
    counts = rates(chaos, asked(**{"x-api-key": "k"}))
    assert sum(counts[kind] for kind in odds._AUTH) / 4000 == pytest.approx(0.4, abs=0.03)
    assert sum(counts[kind] for kind in odds._GENERAL) / 4000 == pytest.approx(0.18, abs=0.03)
    assert set(rates(chaos, asked())) == {None, *odds._GENERAL}
    assert set(rates(Chaos(auth_chaos=True), asked())) == {None}


def test_a_draw_depends_on_seed_method_url_and_occurrence_alone():
    one = asked()
    draws = {odds.generator(seed, request_, number).random()
             for seed in (1, 2) for request_ in (one, asked("/api/x"), asked(method="POST")) for number in (1, 2)}
    assert len(draws) == 12
    assert odds.generator(1, one, 1).random() == odds.generator(1, asked(accept="x"), 1).random()


def test_worthless_credentials():
    headers = {"authorization": "Bearer a", "token": "b", "accept": "c"}
    assert odds.spoiled("token_invalidation", headers) == {"accept": "c"}
    assert odds.spoiled("token_corruption", headers) == {"authorization": "Bearer invalid", "token": "invalid",
                                                          "accept": "c"}


@pytest.mark.parametrize("value", [{}, [], {"a": 1}, [1], 1, "x", None, True, {"a": {"b": []}}, [[[]]], {"a": None}])
def test_damage_always_changes_the_value_and_leaves_the_original(value):
    before = json.dumps(value)
    for seed in range(200):
        assert json.dumps(corrupt(random.Random(seed), value)) != before
    assert json.dumps(value) == before


def test_damage_knows_a_flag_from_a_number():
    assert other_type(True) == "True"
    assert other_type(1) == "NaN"
    assert len(other_type("x" * 9000)) == 2000


def test_stripping_takes_one_or_two_keys():
    value = {"a": 1, "b": 2, "c": 3}
    results = [strip(random.Random(seed), value) for seed in range(50)]
    assert {len(dropped) for _, dropped in results} == {1, 2}
    assert all(set(left) | set(dropped) == set(value) and not set(left) & set(dropped) for left, dropped in results)
    assert strip(random.Random(1), [1, 2]) == ([], ())
    assert strip(random.Random(1), {"only": 1}) == ({}, ("only",))


def test_a_pattern_matches_its_url_with_any_fragment_and_no_other():
    url = HOST + "/api/a.b?x=(1)&y=[2]#frag"
    pattern = re.compile(pattern_source(url))
    assert pattern.match(url.partition("#")[0])
    assert pattern.match(HOST + "/api/a.b?x=(1)&y=[2]#other")
    assert not pattern.match(HOST + "/api/aXb?x=(1)&y=[2]")
    assert not pattern.match(HOST + "/api/a.b?x=(1)&y=[2]3")


@pytest.mark.parametrize("mark", ["[REDACTED]", "%5BREDACTED%5D"])
def test_a_cut_out_secret_stands_for_one_value(mark):
    pattern = re.compile(pattern_source(f"{HOST}/pay?token={mark}&item=7"))
    assert pattern.match(f"{HOST}/pay?token=abc&item=7")
    assert not pattern.match(f"{HOST}/pay?token=abc&x=1&item=7")


def fault(occurrence: int = 0, url: str = "/api/pay", status: int = 500, from_step: int = -1) -> ApiFault:
    return ApiFault("status_code", "get", HOST + url, occurrence, from_step=from_step, status=status)


def test_exact_occurrences_go_before_open_faults():
    targets = Targets([fault(0, status=501), fault(1, status=502), fault(0, status=503)])
    taken = [targets.take("GET", HOST + "/api/pay", 0) for _ in range(4)]
    assert [found and (found[0].status, found[1]) for found in taken] == [(502, 1), (501, 2), (503, 3), None]


def test_a_request_that_two_urls_fit_counts_for_both_and_takes_the_exact_one():
    targets = Targets([fault(2, "/pay?t=[REDACTED]", 501), fault(1, "/pay?t=a", 502)])
    assert targets.take("GET", HOST + "/pay?t=a", 0)[0].status == 502
    assert targets.take("POST", HOST + "/pay?t=a", 0) is None
    assert targets.take("GET", HOST + "/pay?t=b", 0)[0].status == 501
    assert targets.waiting == ()


def test_an_open_fault_waits_for_its_step():
    targets = Targets([fault(0, from_step=3)])
    assert targets.take("GET", HOST + "/api/pay", 2) is None
    assert targets.take("GET", HOST + "/api/pay", 3)[1] == 2


def test_no_faults_need_no_pattern():
    assert Targets([]).pattern() is None
