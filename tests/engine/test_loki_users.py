"""Users of LOKI replay their run directories unchanged: every row of the labelled tables, on the real engine."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.engine.browser_cases import CASES, LOKI, Mode, fits_label, modes, payload_of, shown
from tests.engine.cli import Ran, runner

CRASH, RACE = LOKI / "crash", LOKI / "race"
APP = CRASH / "app.py"
BUGGY, FIXED = "python3 app.py --port 8801", "python3 app.py --port 8801 --fixed"
DEAD = "python3 -c 'import time; time.sleep(120)'"
TYPE_ERROR, REPORT = "Cannot read properties of undefined (reading 'items')", "GET http://127.0.0.1:8801/api/report 500"


def replay(run_dir: Path, payload: Path, command: str, *more: object) -> Ran:
    return runner("replay", run_dir, "--payload", payload, "--target-command", command, "--yes", "--json", "--quiet",
                  "--ready-timeout", 30 if "sleep" not in command else 3, *more)


def steps_of(result):
    return [step["state"] for step in result["samples"][0]["session"]["steps"]]


@pytest.fixture
def shop(tmp_path):
    return payload_of(APP, tmp_path / "payload")


def test_the_crash_is_reproduced_and_named(shop):
    done = replay(CRASH, shop, BUGGY)
    assert done.code == 0, done
    found = shown(done.json, "reproduced")
    assert [any(words in failure["key"] for words in (TYPE_ERROR, REPORT)) for failure in found] == [True, True]
    assert steps_of(done.json) == ["done"] * 8
    assert not shown(done.json, "new")
    assert done.json["session"]["browser"]["sandbox"] == "on"


def test_the_repaired_shop_is_not_reproduced_with_all_steps_taken(shop):
    done = replay(CRASH, shop, FIXED)
    assert done.code == 1, done
    assert steps_of(done.json) == ["done"] * 8
    assert len(shown(done.json, "not_reproduced")) == 2
    assert not shown(done.json, "new")


def test_of_two_bugs_the_one_that_is_left_is_told(tmp_path):
    broken = 'return self.answer(500, {"error": "division by zero in report"})'
    shop = payload_of(APP, tmp_path / "payload", **{broken: 'return self.answer(200, {"rows": []})'})
    done = replay(CRASH, shop, BUGGY)
    assert done.code == 0, done
    assert [TYPE_ERROR in failure["key"] for failure in shown(done.json, "reproduced")] == [True]
    assert [REPORT in failure["key"] for failure in shown(done.json, "not_reproduced")] == [True]
    assert any(reason.startswith("partly: ") for reason in done.json["reasons"])


def test_nothing_that_listens_is_nothing_judged(shop):
    done = replay(CRASH, shop, DEAD)
    assert done.code == 2, done
    assert "did not answer in time" in " ".join(done.json["reasons"])


def test_an_application_that_ends_is_nothing_judged_at_once(shop):
    done = replay(CRASH, shop, "python3 -c 'raise SystemExit(\"no such table\")'")
    assert done.code == 2, done
    assert "no such table" in " ".join(done.json["reasons"])


def test_a_page_without_the_recorded_elements_diverges(tmp_path):
    shop = payload_of(APP, tmp_path / "payload", **{'id="pay"': 'id="buy"', "'pay'": "'buy'"})
    done = replay(CRASH, shop, BUGGY)
    assert done.code == 3, done
    assert "step 0" in " ".join(done.json["reasons"])
    assert "#pay" in " ".join(done.json["reasons"])
    assert steps_of(done.json)[0] == "missing"
    assert any(item["path"].endswith(".png") for item in done.json["samples"][0]["artifacts"])


def test_an_application_that_fails_otherwise_is_news_and_no_reproduction(tmp_path):
    shop = payload_of(APP, tmp_path / "payload", **{
        "let pending = null;": "let pending = null; setTimeout(() => { throw new Error('quite another'); }, 0);",
        "<h1>Peer shop</h1>": "<h1>Peer shop</h1><img src=/missing.png>"})
    done = replay(CRASH, shop, FIXED)
    assert done.code == 1, done
    new = " ".join(failure["key"] for failure in shown(done.json, "new"))
    assert "quite another" in new
    assert "/missing.png" in new


def test_the_race_is_reproduced_on_a_fresh_application(shop):
    done = replay(RACE, shop, BUGGY, "--runs", 2)
    assert done.code == 0, done
    assert done.json["session"]["rate"] == "raced in 2 of 2 runs"
    assert all(sample["session"]["spread_ms"] is not None for sample in done.json["samples"])


def test_the_repaired_race_gives_the_coupon_once(shop):
    done = replay(RACE, shop, FIXED)
    assert done.code == 1, done
    answers = [response[-3:] for lane in done.json["samples"][0]["session"]["lanes"] for response in lane["responses"]]
    assert sorted(answers) == ["200", "409", "409"]


def test_a_race_whose_coupon_is_used_already_says_nothing(tmp_path):
    shop = payload_of(APP, tmp_path / "payload", **{'STATE = {"redeemed": 0': 'STATE = {"redeemed": 1'})
    done = replay(RACE, shop, BUGGY)
    assert done.code == 3, done
    assert "precondition not met" in " ".join(done.json["reasons"])


def test_a_race_against_nothing_is_nothing_judged(shop):
    assert replay(RACE, shop, DEAD).code == 2


@pytest.mark.parametrize("mode", modes(), ids=str)
def test_a_labelled_case_gets_its_verdict(mode: Mode, tmp_path):
    payload = payload_of(mode.folder / "app.py", tmp_path / "payload")
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    shutil.copy(mode.folder / "incident.json", run_dir)
    done = replay(run_dir, payload, mode.command)
    assert done.code in mode.codes, done
    if done.code > 1:
        return
    details = mode.expect.get("mode_details", {}).get(mode.name, {})
    labels = {label["id"]: label for label in mode.expect["identities"]}
    wanted = details.get("identities", list(labels) if done.code == 0 else [])
    keys = [failure["key"] for failure in shown(done.json, "reproduced")]
    assert [any(fits_label(labels[name], key) for key in keys) for name in wanted] == [True] * len(wanted)
    assert len(keys) == len(wanted)
    new = [failure["key"] for failure in shown(done.json, "new")]
    for label in details.get("new_failures", ()):
        assert any(fits_label(label, key) for key in new), new
    for label in details.get("noise", ()):
        assert not any(fits_label(label, key) for key in new), new
    if details.get("all_steps"):
        assert set(steps_of(done.json)) <= {"done"}


def test_every_case_was_found():
    assert len(modes()) >= 17
    assert {mode.case for mode in modes()} == {path.name for path in CASES.iterdir() if path.is_dir()}


@pytest.mark.parametrize("extra", sorted((LOKI / "extra").glob("*.json")), ids=lambda path: path.stem)
def test_sessions_of_other_personas_replay_with_the_effect_of_each_step(extra, tmp_path, shop):
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    shutil.copy(extra, run_dir / "incident.json")
    buggy = replay(run_dir, shop, BUGGY)
    assert buggy.code == 0, buggy
    fixed = replay(run_dir, shop, FIXED)
    assert fixed.code == 1, fixed
    assert set(steps_of(fixed.json)) == {"done"}
