"""An incident of an application that has another origin now."""

from __future__ import annotations

from dataclasses import replace

import pytest
from incident_samples import lanes, played, sample

from runner.controller.sessions.jobs import moved
from runner.incidents.identity import Identity
from runner.incidents.model import Failure
from runner.oracles.events import judge_session

ELSEWHERE = "http://127.0.0.1:9001"


@pytest.mark.parametrize("name", ["loki/race", "browser/wallet_race"])
def test_a_race_is_the_same_one_on_another_port(name: str) -> None:
    incident = sample(name)
    there = moved(incident, ELSEWHERE + "/coupon")
    path = "/" + incident.lanes[0].responses[0].url.split("/", 3)[3]
    again = judge_session(there, played(there, lanes=lanes("POST", ELSEWHERE + path, 200, 200, 409)))
    assert (again.kind, len(again.found), len(again.new)) == ("judged", 1, 0)
    spent = judge_session(there, played(there, lanes=lanes("POST", ELSEWHERE + path, 409, 409, 409)))
    assert spent.kind == "precondition"


def test_urls_in_messages_move_along_and_longer_ports_do_not() -> None:
    incident = sample("loki/crash")
    said = "title: 'Oops' (http://127.0.0.1:8801/x), not http://127.0.0.1:88012/x"
    failure = Failure(Identity("navigation_error", said, url="http://127.0.0.1:8801/x"))
    there = moved(replace(incident, failures=(failure,)), ELSEWHERE + "/")
    assert there.failures[0].identity == Identity(
        "navigation_error", "title: 'Oops' (http://127.0.0.1:9001/x), not http://127.0.0.1:88012/x",
        url="http://127.0.0.1:9001/x")


def test_nothing_but_the_page_changes_where_the_origin_stays() -> None:
    incident = sample("loki/race")
    assert moved(incident, "http://127.0.0.1:8801/other") == replace(incident, target_url="http://127.0.0.1:8801/other")
