"""Observations: what is asked, what counts as an answer, and asking until it holds."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from load_runs import job_for
from load_servers import Application, application, plain

from runner.load.job import Observation
from runner.load_driver import observe as observing
from runner.load_driver.client import Answer, Client, NoAnswer
from runner.load_driver.observe import observe
from runner.load_driver.stopping import Stop

Server = bytes | Callable[[socket.socket, str], object]


def looked(server: Server, look: Observation, env: dict[str, str] | None = None, *, fixture_id: str | None = None,
           **job: Any) -> tuple[dict[str, Any], Application]:
    with application(server) as app:
        seen = observe(Client(), job_for(app.url, **job), look, env or {}, fixture_id, Stop())
    return seen, app


def state(value: object) -> bytes:
    return plain(200, json.dumps(value))


def test_everything_that_is_expected_is_checked() -> None:
    look = Observation("final", "/state?of=it", {"/used": 10, "/orders": {"len": "${planned_journeys}"}, "/x": 1,
                                                 "/gone": {"exists": False}})
    seen, app = looked(state({"used": 9, "orders": [1, 2]}), look)
    assert app.lines() == ["GET /state?of=it"]
    assert seen == {
        "assertion": "final", "status": "fail",
        "expected": {"/used": 10, "/orders": {"len": 2}, "/x": 1, "/gone": {"exists": False}},
        "actual": {"/used": 9, "/orders": {"type": "array", "length": 2}, "/x": None, "/gone": False},
        "checks": {
            "/used": {"matcher": {"eq": 10}, "actual": 9, "pass": False, "reason": "is something else"},
            "/orders": {"matcher": {"len": 2}, "actual": {"type": "array", "length": 2}, "pass": True},
            "/x": {"matcher": {"eq": 1}, "actual": None, "pass": False, "reason": "nothing is there"},
            "/gone": {"matcher": {"exists": False}, "actual": False, "pass": True}},
        "expressions": {"/orders": {"len": "${planned_journeys}"}}, "missing": ["/x", "/gone"]}


def test_the_request_carries_what_the_manifest_says() -> None:
    look = Observation("a", "/", {"": {"exists": True}}, token_env="ADMIN", headers_env=(("X-Tenant", "TENANT"),))
    seen, app = looked(state(1), look, {"ADMIN": "adm", "TENANT": "t1"}, fixture_id="f-1")
    assert seen["status"] == "pass"
    for line in ("Authorization: Bearer adm", "X-Tenant: t1", "X-LiteTraffic-Fixture: f-1"):
        assert f"{line}\r\n" in app.requests[0]


@pytest.mark.parametrize(("answer", "reason"), [
    (plain(201, "{}"), "GET /x: the answer was 201, not 200"), (plain(302, "{}", "Location: /y"), "302, not 200"),
    (plain(200, "<h1>"), "the answer is no JSON"), (b"", "the request failed"), (plain(500), "500, not 200")])
def test_anything_but_a_200_with_json_is_unknown(answer: bytes, reason: str) -> None:
    seen, app = looked(answer, Observation("a", "/x", {"": {"exists": True}}))
    assert (seen["assertion"], seen["status"]) == ("a", "unknown")
    assert reason in seen["reason"]
    assert len(app.requests) == 1


@pytest.mark.parametrize(("look", "env", "reason"), [
    (Observation("a", "/", {}, token_env="T"), {}, "the variable T was not given"),
    (Observation("a", "/", {}, token_env="T"), {"T": ""}, "the variable T was not given"),
    (Observation("a", "/", {}, headers_env=(("X", "H"),)), {"T": "x"}, "the variable H was not given"),
    (Observation("a", "/", {}, origin_env="O"), {}, "the variable O was not given"),
    (Observation("a", "/", {}, origin_env="O"), {"O": "secret"}, "what the variable O has is no origin"),
    (Observation("a", "/", {}, origin_env="O"), {"O": "http://169.254.169.254"}, "the variable O has is no origin"),
    (Observation("a", "/", {}, origin_env="O"), {"O": "http://secret.test"}, "in the variable O is not an allowed one"),
    (Observation("a", "/", {}, origin_env="O"), {"O": "http://a.test", "MORE": "b c"}, "MORE has what is no origin")])
def test_without_a_variable_or_leave_nothing_is_sent(look: Observation, env: dict[str, str], reason: str) -> None:
    seen, app = looked(state(1), look, env, allowed_origins_env="MORE")
    assert (seen["status"], app.requests) == ("unknown", [])
    assert reason in seen["reason"]
    assert "secret" not in json.dumps(seen)


@pytest.mark.parametrize("more", [{}, {"MORE": " http://x.test , HTTP://127.0.0.1:{port}/"}])
def test_another_origin_is_asked_if_it_is_allowed(more: dict[str, str]) -> None:
    with application(state({"n": 1})) as other, application(plain(500)) as app:
        env = {"O": f"{other.url}/"} | {name: text.format(port=other.port) for name, text in more.items()}
        job = job_for(app.url, allowed_origins=() if more else (other.url,), allowed_origins_env="MORE")
        seen = observe(Client(), job, Observation("a", "/s", {"/n": 1}, origin_env="O"), env, None, Stop())
        fixed = observe(Client(), job, Observation("a", "/t", {"/n": 1}, origin=other.url), {}, None, Stop())
    assert (seen["status"], fixed["status"]) == ("pass", "pass")
    assert (other.lines(), app.requests) == (["GET /s", "GET /t"], [])


@dataclass
class Polled(Stop):
    """An application and a clock, which moves only where somebody waits. ``asked_at`` is when each try was made. After
    ``patience`` waits the run is asked to end.
    """

    answers: list[Answer | NoAnswer]
    takes: float = 0.0
    patience: int = 1000
    asked_at: list[float] = field(default_factory=list)
    now: float = 0.0

    def __post_init__(self) -> None:
        super().__init__()

    def pause(self, seconds: float) -> None:
        self.now += max(seconds, 0.0)
        self.patience -= 1
        if not self.patience:
            self.ask()

    def __call__(self, *_: object) -> Answer:
        """One try; the last answer comes again and again."""
        self.asked_at.append(round(self.now, 6))
        self.now += self.takes
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, NoAnswer):
            raise found
        return found

    def look(self, monkeypatch: pytest.MonkeyPatch, deadline: float, interval: float) -> dict[str, Any]:
        monkeypatch.setattr(observing, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(Client, "ask", self)
        look = Observation("a", "/", {"/n": {"gte": 3}}, deadline_seconds=deadline, interval_seconds=interval)
        return observe(Client(), job_for("http://127.0.0.1:1"), look, {}, None, self)


def holding(number: int) -> Answer:
    return Answer(200, json.dumps({"n": number}).encode())


def test_it_is_asked_until_it_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    polled = Polled([Answer(500, b""), holding(1), holding(3)])
    seen = polled.look(monkeypatch, 5, 0.1)
    assert (seen["status"], seen["attempts"], seen["elapsed_seconds"]) == ("pass", 3, 0.2)
    assert polled.asked_at == [0, 0.1, 0.2]


def test_what_never_holds_fails_with_its_last_reading_and_the_last_try_is_at_the_deadline(
        monkeypatch: pytest.MonkeyPatch) -> None:
    polled = Polled([holding(1), holding(2), Answer(500, b"")])
    seen = polled.look(monkeypatch, 0.5, 0.2)
    assert (seen["status"], seen["actual"], seen["attempts"]) == ("fail", {"/n": 2}, 4)
    assert polled.asked_at == [0, 0.2, 0.4, 0.5]


def test_what_was_never_json_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Polled([Answer(503, b"")]).look(monkeypatch, 0.3, 0.1)
    assert (seen["status"], seen["attempts"]) == ("unknown", 4)
    assert "503" in seen["reason"]


def test_an_application_that_never_answers_costs_no_more_than_one_request_beyond_the_deadline(
        monkeypatch: pytest.MonkeyPatch) -> None:
    polled = Polled([NoAnswer("no whole answer within 0.4 s")], takes=0.4)
    seen = polled.look(monkeypatch, 0.5, 0.1)
    assert (seen["status"], seen["attempts"], seen["elapsed_seconds"]) == ("unknown", 2, 0.8)
    assert polled.asked_at == [0, 0.4]


def test_asking_again_ends_when_the_run_does(monkeypatch: pytest.MonkeyPatch) -> None:
    polled = Polled([holding(1)], patience=2)
    seen = polled.look(monkeypatch, 600, 30)
    assert (seen["status"], polled.asked_at) == ("fail", [0, 30, 60])


def test_a_deep_document_is_no_answer_and_a_deep_expectation_is_compared() -> None:
    deep: Any = 1
    for _ in range(90):
        deep = [deep]
    look = Observation("a", "/", {"": deep})
    assert looked(state(deep), look)[0]["status"] == "pass"
    assert looked(plain(200, "[" * 5000 + "]" * 5000), look)[0]["status"] == "unknown"
