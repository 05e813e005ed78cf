"""Which variables k6 and the hooks get: LiteTraffic's table, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from load_runs import WRITES_ENVIRONMENT, environment_left, job_for, lived, place_in

from runner.load.job import Hooks
from runner.load_driver.environment import MAX_VARIABLE, TooLarge, engine_environment, hook_environment

JOB = job_for("http://127.0.0.1:1", env_names=("ADMIN", "LT_TOKEN_USER", "LT_TOKENS_SHOP", "K6_VUS", "LT_FIXTURE_ID",
                                               "LT_FIXTURE_JSON", "LT_FIXTURE_POOL_JSON", "LT_SEED", "GONE"))
OWN = {"PATH": "/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC", "LC_ALL": "C", "ADMIN": "secret",
       "LT_TOKEN_USER": "jwt", "LT_TOKENS_SHOP": '["a"]', "K6_VUS": "9", "LT_FIXTURE_ID": "forged",
       "LT_FIXTURE_JSON": "forged", "LT_FIXTURE_POOL_JSON": "forged", "LT_SEED": "forged", "HOST_SECRET": "x",
       "PYTHONHASHSEED": "0", "K6_OUT": "cloud"}
BASICS = {"PATH": "/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC", "LC_ALL": "C", "ADMIN": "secret",
          "LT_RUN_ID": JOB.run_id, "LT_TARGET": JOB.target, "LT_SEED": "7"}


def test_a_hook_gets_the_run_and_no_token() -> None:
    assert hook_environment(OWN, JOB) == BASICS


def test_teardown_gets_what_setup_told_unless_it_is_too_large_to_be_handed_over() -> None:
    assert hook_environment(OWN, JOB, '{"a":1}') == {**BASICS, "LT_FIXTURE_JSON": '{"a":1}'}
    assert hook_environment(OWN, JOB, "x" * MAX_VARIABLE) == BASICS


def test_k6_gets_tokens_the_schedule_and_what_was_made() -> None:
    schedule = [{"name": "all", "rate": 2, "seconds": 1}]
    given = engine_environment(OWN, JOB, fixture_id="f1", fixture='{"a": 1}', pool=[1, "é"])
    assert sorted(json.loads(given.pop("LT_SCHEDULE_JSON")), key=str) == schedule
    assert given == {**BASICS, "LT_TOKEN_USER": "jwt", "LT_TOKENS_SHOP": '["a"]', "LT_MAX_IN_FLIGHT": "3",
                     "LT_FIXTURE_ID": "f1", "LT_FIXTURE_JSON": '{"a": 1}', "LT_FIXTURE_POOL_JSON": '[1,"\\u00e9"]'}
    assert not any(name.startswith("LT_FIXTURE") for name in engine_environment(OWN, JOB))


def test_a_variable_that_linux_would_refuse_is_told_before() -> None:
    room = MAX_VARIABLE - len("LT_FIXTURE_JSON") - 2
    assert engine_environment(OWN, JOB, fixture="x" * room)["LT_FIXTURE_JSON"]
    with pytest.raises(TooLarge, match="LT_FIXTURE_JSON would have more than 128 KiB"):
        engine_environment(OWN, JOB, fixture="x" * (room + 1))


def test_linux_takes_the_largest_one(tmp_path: Path) -> None:
    text = json.dumps({"a": "x" * (MAX_VARIABLE - len("LT_FIXTURE_JSON") - 2 - len('{"a": ""}'))})
    (tmp_path / "told.json").write_text(text, encoding="utf-8")
    place = place_in(tmp_path, WRITES_ENVIRONMENT)
    hooks = Hooks(("cat", "../told.json"), ("true",), 5, 5)
    assert lived(job_for("http://127.0.0.1:1", hooks=hooks), place).lifecycle == "finished"
    assert environment_left(place)["LT_FIXTURE_JSON"] == text
