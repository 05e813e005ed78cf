"""What a run makes and removes: always removed, told when it is not, and never guessed."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest
from load_runs import RUN_ID, WRITES_ENVIRONMENT, environment_left, job_for, lived, place_in
from load_servers import application, plain

from runner.load.job import Hooks, LoadJob, Observation, OwnedHttp
from runner.load_driver import client, processes
from runner.load_driver.stopping import Stop

OWNED = OwnedHttp("/rooms", "/rooms/{fixture_id}", "/room/id", {"slots": 6}, "ADMIN")
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_SECONDS", 0.2)


def hooked(setup: str, teardown: str = "true", **fields: Any) -> LoadJob:
    """Hooks of a line of shell each."""
    seconds = fields.pop("seconds", 10)
    return job_for(NOWHERE, hooks=Hooks(("sh", "-c", setup), ("sh", "-c", teardown), seconds, seconds), **fields)


def answering(create: bytes, delete: bytes = plain(204)) -> Any:
    def answer(line: socket.socket, head: str) -> None:
        line.sendall(create if head.startswith("POST") else delete)
    return answer


def test_a_fixture_is_made_before_k6_and_removed_after_the_observations(tmp_path: Path) -> None:
    place = place_in(tmp_path, WRITES_ENVIRONMENT, {"ADMIN": "adm"})
    look = Observation("left", "/audit", {"/n": 1})

    def answer(line: socket.socket, head: str) -> None:
        line.sendall(plain(201, '{"room": {"id": "r-1"}}') if head.startswith("POST") else
                     plain(200, '{"n": 1}') if head.startswith("GET") else plain(204))
    with application(answer) as app:
        outcome = lived(job_for(app.url, owned=OWNED, observations=(look,)), place)
    assert app.lines() == ["POST /rooms", "GET /audit", "DELETE /rooms/r-1"]
    for request in app.requests:
        assert f"X-LiteTraffic-Run: {RUN_ID}\r\n" in request
    assert ["Authorization: Bearer adm" in request for request in app.requests] == [True, False, True]
    assert "X-LiteTraffic-Fixture: r-1\r\n" in app.requests[1]
    assert environment_left(place)["LT_FIXTURE_ID"] == "r-1"
    assert (outcome.lifecycle, outcome.cleaned, outcome.fixture_failures) == ("finished", True, ())
    assert (outcome.fixture_requests, outcome.fixture_writes, outcome.observer_requests) == (2, 2, 1)
    assert outcome.fixture == {"create": {"status": "created", "fixture_id": "r-1", "requests": 1},
                               "cleanup": {"status": "deleted", "requests": 1}}
    assert [document["status"] for document in outcome.observations] == ["pass"]


@pytest.mark.parametrize(("create", "said", "cleaned"), [
    (plain(503), "POST /rooms answered 503", None), (plain(302, b"", "Location: /x"), "answered 302", None),
    (plain(201, "{}"), "no usable ID at /room/id", False), (plain(201, "nothing"), "no JSON", False),
    (plain(200, '{"room": {"id": "../other"}}'), "no usable ID", False), (b"", "the request failed", False),
    (plain(200, '{"room": {"id": 5}}'), "no usable ID", False),
    (plain(200, json.dumps({"room": {"id": "a" * 129}})), "no usable ID", False)])
def test_a_fixture_that_is_not_made_keeps_k6_from_running(tmp_path: Path, create: bytes, said: str,
                                                         cleaned: bool | None) -> None:
    place = place_in(tmp_path, WRITES_ENVIRONMENT, {"ADMIN": "adm"})
    with application(answering(create)) as app:
        outcome = lived(job_for(app.url, owned=OWNED, observations=(Observation("a", "/", {"": 1}),)), place)
    assert not (tmp_path / "env.json").exists()
    assert (outcome.lifecycle, outcome.cleaned, outcome.detail) == ("crashed", cleaned, "k6 was not run")
    assert len(outcome.fixture_failures) == 1
    assert said in outcome.fixture_failures[0]
    assert app.lines() == ["POST /rooms"]
    assert outcome.observations == ({"assertion": "a", "status": "unknown", "reason": "k6 was not run"},)


def test_a_fixture_that_may_have_been_made_is_not_called_clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "SECONDS", 0.3)
    place = place_in(tmp_path, env={"ADMIN": "adm"})
    with application(lambda line, _: line.recv(1)) as app:
        outcome = lived(job_for(app.url, owned=OWNED), place)
    assert (outcome.cleaned, outcome.fixture_requests) == (False, 1)
    assert outcome.fixture_failures == ("the fixture was not made: POST /rooms: no whole answer within 0.3 s",)


def test_a_missing_token_sends_nothing(tmp_path: Path) -> None:
    with application(plain(201, "{}")) as app:
        outcome = lived(job_for(app.url, owned=OWNED), place_in(tmp_path, env={"ADMIN": ""}))
    assert (app.requests, outcome.cleaned, outcome.fixture_requests) == ([], None, 0)
    assert outcome.fixture_failures == ("the variable ADMIN was not given",)


def test_a_fixture_that_stays_is_told(tmp_path: Path) -> None:
    with application(answering(plain(201, '{"room": {"id": "r"}}'), plain(500))) as app:
        outcome = lived(job_for(app.url, owned=OWNED), place_in(tmp_path, env={"ADMIN": "a"}))
    assert (outcome.lifecycle, outcome.cleaned) == ("finished", False)
    assert outcome.fixture_failures == ("the fixture was not removed: DELETE /rooms/r answered 500",)


@pytest.mark.parametrize("k6", ["import sys; sys.exit(3)", "import os; os.kill(os.getpid(), 9)",
                                "import time; time.sleep(60)"])
def test_however_k6_ends_the_fixture_is_removed(tmp_path: Path, k6: str) -> None:
    with application(answering(plain(201, '{"room": {"id": "r"}}'))) as app:
        job = job_for(app.url, owned=OWNED, engine_seconds=0.5)
        outcome = lived(job, place_in(tmp_path, k6, {"ADMIN": "a"}))
    assert outcome.lifecycle in ("crashed", "timed_out")
    assert (outcome.cleaned, app.lines()[-1]) == (True, "DELETE /rooms/r")


def test_hooks_run_in_the_scenarios_folder_and_hand_over_what_setup_told(tmp_path: Path) -> None:
    place = place_in(tmp_path, WRITES_ENVIRONMENT, {"LT_TOKEN_USER": "jwt"})
    job = hooked("touch made; echo noise; echo '{\"user\": \"ü\"}'; echo >&2 '  complained'",
                 'test "$LT_FIXTURE_JSON" = \'{"user": "ü"}\' && test -z "$LT_TOKEN_USER" && rm made',
                 env_names=("LT_TOKEN_USER",))
    outcome = lived(job, place)
    assert (outcome.lifecycle, outcome.cleaned, outcome.fixture_failures) == ("finished", True, ())
    assert json.loads(environment_left(place)["LT_FIXTURE_JSON"]) == {"user": "ü"}
    assert environment_left(place)["LT_TOKEN_USER"] == "jwt"
    assert list((tmp_path / "scenario").iterdir()) == []
    assert outcome.fixture is not None
    setup = outcome.fixture["setup"]
    assert (setup["argv"], setup["exit_code"], setup["status"]) == (list(job.hooks.setup), 0, "ok")  # type: ignore[union-attr]
    assert (setup["stderr"], setup["duration_seconds"] < 10) == ("  complained\n", True)


@pytest.mark.parametrize(("setup", "seconds", "said"), [
    ("exit 3", 10, "setup ended with 3"), ("sleep 60", 1, "setup did not end within 1 s"),
    ("kill -9 $$", 10, "setup was killed by signal 9")])
def test_after_a_setup_that_failed_teardown_runs_and_k6_does_not(tmp_path: Path, setup: str, seconds: int,
                                                                said: str) -> None:
    outcome = lived(hooked(setup, "touch torn", seconds=seconds), place_in(tmp_path, WRITES_ENVIRONMENT))
    assert (outcome.fixture_failures, outcome.cleaned, outcome.lifecycle) == ((said,), True, "crashed")
    assert (tmp_path / "scenario" / "torn").exists()
    assert not (tmp_path / "env.json").exists()


def test_a_hook_that_is_missing_is_told(tmp_path: Path) -> None:
    job = job_for(NOWHERE, hooks=Hooks(("./no-such",), ("./neither",), 5, 5))
    outcome = lived(job, place_in(tmp_path))
    assert outcome.fixture_failures == ("setup cannot be started: No such file or directory",
                                        "teardown cannot be started: No such file or directory")
    assert outcome.cleaned is False


def test_a_teardown_that_fails_or_hangs_is_told(tmp_path: Path) -> None:
    for teardown, said in (("exit 1", "teardown ended with 1"), ("sleep 60", "teardown did not end within 1 s")):
        outcome = lived(hooked("true", teardown, seconds=1), place_in(tmp_path))
        assert (outcome.fixture_failures, outcome.cleaned, outcome.lifecycle) == ((said,), False, "finished")


def test_a_hook_that_floods_is_kept_by_its_end(tmp_path: Path) -> None:
    flood = "head -c 30000000 /dev/zero | tr '\\0' x; echo; echo '{\"a\": 1}'; head -c 9000 /dev/zero | tr '\\0' y >&2"
    place = place_in(tmp_path, WRITES_ENVIRONMENT)
    outcome = lived(hooked(flood), place)
    assert environment_left(place)["LT_FIXTURE_JSON"] == '{"a": 1}'
    assert outcome.fixture is not None
    assert outcome.fixture["setup"]["stderr"] == "y" * 4096


@pytest.mark.parametrize("last", ["[1]", "null", "no", '{"a": NaN}', '{"a": 1} x', "{'a': 1}", "'" + "[" * 50 + "'"])
def test_a_last_line_that_is_no_object_is_nothing(tmp_path: Path, last: str) -> None:
    place = place_in(tmp_path, WRITES_ENVIRONMENT)
    (tmp_path / "told").write_text(last, encoding="utf-8")
    assert lived(hooked("cat ../told"), place).lifecycle == "finished"
    assert "LT_FIXTURE_JSON" not in environment_left(place)


def test_what_setup_starts_stays_until_teardown_is_done(tmp_path: Path) -> None:
    setup = "sleep 60 >/dev/null 2>&1 & echo $! >pid"
    outcome = lived(hooked(setup, "kill -0 $(cat pid)"), place_in(tmp_path))
    assert outcome.fixture_failures == ()
    number = int((tmp_path / "scenario" / "pid").read_text())
    assert not processes._is_there(number)
    state = Path(f"/proc/{number}/stat")
    assert not state.exists() or state.read_bytes().rpartition(b")")[2].split()[0] == b"Z"


@pytest.mark.parametrize(("file", "told", "said"), [
    ("[1, 2]", "", None), ("[1]", "", "the pool is no array of 2 items or more"),
    ('{"a": 1}', "", "the pool is no array"), ("[1, NaN]", "", "the pool pool.json cannot be read"),
    ("[1, 2]", '{"pool": [3, 4]}', "only one can be used"), (None, '{"pool": [3, 4, 5]}', None),
    (None, '{"pool": [3]}', "the pool is no array"), (None, '{"pool": "ab"}', "the pool is no array"),
    (None, '{"pool": null}', None)])
def test_a_pool_comes_from_one_place(tmp_path: Path, file: str | None, told: str, said: str | None) -> None:
    place = place_in(tmp_path, WRITES_ENVIRONMENT)
    if file is not None:
        (tmp_path / "scenario" / "pool.json").write_text(file, encoding="utf-8")
    outcome = lived(hooked(f"echo '{told}'", pool=None if file is None else "pool.json"), place)
    assert (said is None) == (outcome.fixture_failures == ())
    if said is None:
        wanted = file or (told if "null" not in told else "")
        pool = json.loads(wanted) if wanted else None
        given = environment_left(place).get("LT_FIXTURE_POOL_JSON")
        assert (None if given is None else json.loads(given)) == (pool["pool"] if isinstance(pool, dict) else pool)
    else:
        assert said in outcome.fixture_failures[0]


@pytest.mark.parametrize("where", ["setup", "k6"])
def test_who_ends_the_run_early_leaves_nothing_behind(tmp_path: Path, where: str) -> None:
    stop = Stop()
    slow = "touch begun; sleep 60"
    place = place_in(tmp_path, "import time; open('begun', 'w').close(); time.sleep(60)")

    def ask() -> None:
        while not (tmp_path / "scenario" / "begun").exists():
            threading.Event().wait(0.01)
        stop.ask()
    threading.Thread(target=ask, daemon=True).start()
    outcome = lived(hooked(slow if where == "setup" else "true", "touch torn", seconds=30), place, stop)
    assert (outcome.lifecycle, outcome.state, outcome.cleaned) == ("cancelled", "done", True)
    assert (outcome.fixture_failures, (tmp_path / "scenario" / "torn").exists()) == ((), True)
