"""How long a session may take follows from what it is to do."""

from __future__ import annotations

from runner.browser.faults import ApiFault
from runner.browser.job import Chaos, Job, Race
from runner.browser.trace import Click, Fill
from runner.controller.sessions.times import session_seconds


def seconds(**parts: object) -> float:
    return session_seconds(Job(mode="play", url="http://127.0.0.1/", **parts))


def test_a_trace_of_ten_minutes_of_delays_has_more_than_ten_minutes():
    trace = tuple(Click("#a", repeat=60, delay_ms=1000) for _ in range(10))
    assert seconds(trace=trace) > 600 + seconds()


def test_every_step_and_every_delayed_answer_adds_time():
    assert seconds() < seconds(trace=(Fill("#a", "x"),)) < seconds(trace=(Fill("#a", "x"),) * 2)
    late = ApiFault("delay", "GET", "http://127.0.0.1/", delay_ms=90_000)
    assert seconds(api_faults=(late,)) >= seconds() + 90


def test_a_race_and_a_chaos_session_have_time_of_their_own():
    assert seconds(race=Race(3)) > seconds()
    assert seconds(chaos=Chaos(steps=100)) > seconds(chaos=Chaos(steps=10)) > seconds()
    assert seconds(chaos=Chaos(duration_ms=60_000)) > seconds(chaos=Chaos(duration_ms=5_000))
