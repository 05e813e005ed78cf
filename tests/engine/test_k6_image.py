"""The image `k6` under its policy: what it has, the driver in it, and the runtime helper in the real k6."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.controller.bounds import seal_limits
from runner.controller.observe import observe
from runner.evidence.observation import Observation
from runner.load.job import JOB_FILE, SCENARIO_FOLDER, Caps, Hooks, LoadJob, Phase, write_job
from runner.load.outcome import OUTCOME_FILE, OUTPUT_FOLDER
from runner.payload.seal import seal
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.policy import load_policy

pytestmark = pytest.mark.engine

POLICY = load_policy("load")
DRIVER = "exec python3 -I -S -B /opt/runner/driver/load_driver.py /workspace"
SERVER = "python3 -m http.server --bind 127.0.0.1 8000 --directory /tmp >/dev/null 2>&1 &"
FILES = ("console.log", "metrics.jsonl", "engine.stdout.log", "engine.stderr.log", OUTCOME_FILE)
RUN_ID = "run_20260101T000000Z_0badcafe"


def ran(folder: Path, shell: str, env: tuple[tuple[str, str], ...] = ()) -> Observation:
    """A line of shell in the image, with the folder as its work tree."""
    backend = DockerBackend()
    sealed = seal(folder, seal_limits(POLICY))
    plan = Plan(argv=("sh", "-c", shell), cwd=".", env=env, policy=POLICY, timeout=120.0, runs=1,
                image=backend.own_image("k6"), artifacts=tuple(f"{OUTPUT_FOLDER}/{name}" for name in FILES))
    with backend.open(plan, sealed) as session:
        return next(iter(observe(session, plan, lambda _: None)))


def drove(folder: Path, script: str, env: tuple[tuple[str, str], ...] = (),
          **fields: Any) -> tuple[dict[str, Any], dict[str, bytes], Observation]:
    """The outcome, the files, and all that was seen. One journey, unless told."""
    scenario = folder / SCENARIO_FOLDER
    scenario.mkdir(exist_ok=True)
    (scenario / "main.js").write_text(script, encoding="utf-8")
    job: dict[str, Any] = {
        "run_id": RUN_ID, "target": "http://127.0.0.1:8000", "seed": 42, "script": "main.js", "max_in_flight": 2,
        "schedule": (Phase("all", 1, 1),), "planned_journeys": 1, "engine_seconds": 20.0,
        "env_names": tuple(name for name, _ in env), **fields}
    (folder / JOB_FILE).write_bytes(write_job(LoadJob(**job)))
    seen = ran(folder, f"{SERVER} {DRIVER}", env)
    left = {item.path.decode().rpartition("/")[2]: item.data for item in seen.artifacts}
    assert OUTCOME_FILE in left, (seen.status, seen.stderr.kept[-2000:])
    assert (seen.status.cause, seen.status.returncode) == ("exited", 0)
    return json.loads(left.pop(OUTCOME_FILE)), left, seen


def values_of(left: dict[str, bytes]) -> list[Any]:
    """What a script said by ``say``."""
    return [json.loads(line) for line in left["console.log"].splitlines()]


HEAD = """
import exec from 'k6/execution';
import * as lt from './litetraffic/runtime.js';
export const options = lt.options();
const say = (value) => console.log(JSON.stringify(value));
const thrown = (work) => { try { return work(); } catch (error) { return 'threw: ' + error.message; } };
"""

EXPORTS = HEAD + """
export default function () {
  const second = lt.rng(5), again = lt.rng(5);
  say([second(), second(), second()]);
  say([again() === lt.rng(5)(), lt.rng()() === lt.rng(0)(), lt.poolItem(), lt.tokenFor('admin')]);
  say(lt.journeyKey());
  say([lt.poolItem(0), lt.poolItem(1), thrown(() => lt.poolItem(2)), thrown(() => lt.poolItem(-1)),
       thrown(() => lt.poolItem(0.5))]);
  say([lt.tokenFor('shop user!', 0), lt.tokenFor('shop user!', 3), lt.tokenFor('ADMIN', 7),
       thrown(() => lt.tokenFor('nobody', 0))]);
  say([lt.hmacSha256Hex('key', 'data'), lt.hmacSha256Base64('key', 'data')]);
  say([lt.deepEqual({ a: 1, b: [1, { c: NaN }] }, { b: [1, { c: NaN }], a: 1 }), lt.deepEqual([1, 2], [2, 1]),
       lt.deepEqual({ a: undefined }, {}), lt.deepEqual({ a: undefined }, { b: undefined }), lt.deepEqual([], {}),
       lt.deepEqual(null, undefined), lt.deepEqual(null, {}), lt.deepEqual(1, '1')]);
  lt.evidence('held', true);
  lt.evidence('fell', false, { logicalKey: 7, expected: null, actual: 0, detail: 'x'.repeat(600) });
  lt.stage('asked');
}
"""


def test_the_runtime_helper_does_in_k6_what_scenarios_expect(tmp_path: Path) -> None:
    env = (("LT_TOKENS_SHOP_USER", '["t0", "t1"]'), ("LT_TOKEN_ADMIN", "adm"))
    (tmp_path / SCENARIO_FOLDER).mkdir()
    (tmp_path / SCENARIO_FOLDER / "pool.json").write_text('["p0", {"a": 1}]', encoding="utf-8")
    outcome, left, seen = drove(tmp_path, EXPORTS, env, pool="pool.json")
    assert outcome["lifecycle"] == "finished", left["engine.stderr.log"]
    assert seen.stdout.kept == b"launched\nready\nk6 started\nk6 ended\n"
    said = left["console.log"].decode().splitlines()
    plain = [json.loads(line) for line in said if not line.startswith("LT_EVENT ")]
    vector = pytest.approx([0.3912330652, 0.7363414455, 0.5568693317], abs=1e-10)
    key = f"{RUN_ID}-traffic-0"
    assert plain == [
        vector, [True, True, "p0", "adm"], key,
        ["p0", {"a": 1}, *[f"threw: the pool has 2 items, and none is number {it}" for it in ("2", "-1", "0.5")]],
        ["t0", "t1", "adm", "threw: there is no token for the actor class nobody"],
        ["5031fe3d989c6d1537a013fa6e739da23463fdaec3b70137d828e36ace221bd0",
         "UDH+PZicbRU3oBP6bnOdojRj/a7DtwE32Cjjas4iG9A="],
        [True, False, False, False, False, False, False, False]]
    common = {"schema_version": 1, "run_id": RUN_ID}
    assert [json.loads(line.removeprefix("LT_EVENT ")) for line in said if line.startswith("LT_EVENT ")] == [
        {**common, "type": "assertion", "assertion": "held", "passed": True, "logical_key": key},
        {**common, "type": "assertion", "assertion": "fell", "passed": False, "logical_key": "7", "expected": None,
         "actual": 0, "detail": "x" * 500},
        {**common, "type": "stage", "stage": "asked", "logical_key": key}]


def test_the_other_vector_of_the_generator_and_no_pool(tmp_path: Path) -> None:
    script = HEAD + """
export default function () {
  const next = lt.rng(0);
  say([next(), next(), next()]);
  say(thrown(() => lt.poolItem(0)));
}
"""
    _, left, _ = drove(tmp_path, script, seed=0)
    assert values_of(left) == [pytest.approx([0.5390442491, 0.0037083316, 0.1637890612], abs=1e-10),
                               "threw: there is no pool: the scenario has none, and its setup gave none"]


def test_the_schedule_becomes_k6s_options_and_all_journeys_are_admitted(tmp_path: Path) -> None:
    script = HEAD + "export default function () { if (exec.scenario.iterationInTest === 0) say(lt.options()); }"
    schedule = (Phase("a", 1, 2), Phase("b", 1, 2), Phase("quiet", 1, 0), Phase("c", 1, 3))
    outcome, left, _ = drove(tmp_path, script, schedule=schedule, planned_journeys=7, max_in_flight=5)
    options = values_of(left)[0]
    traffic = options["scenarios"]["traffic"]
    hold = [{"target": 2, "duration": "1s"}, {"target": 2, "duration": "1s"}, {"target": 0, "duration": "0s"},
            {"target": 0, "duration": "1s"}, {"target": 3, "duration": "0s"}, {"target": 3, "duration": "1s"},
            {"target": 1, "duration": "0s"}, {"target": 1, "duration": "500ms"}]
    assert (options["maxRedirects"], traffic["executor"], traffic["startRate"]) == (0, "ramping-arrival-rate", 2)
    assert (traffic["preAllocatedVUs"], traffic["maxVUs"], traffic["timeUnit"]) == (5, 5, "1s")
    assert traffic["stages"] == hold
    points = [json.loads(line) for line in left["metrics.jsonl"].splitlines()]
    done = sum(point["data"]["value"] for point in points
               if point["type"] == "Point" and point["metric"] == "iterations")
    assert (done, outcome["engine"]["exit_code"]) == (7, 0)
    assert 3.9 < outcome["engine"]["seconds"] < 7


def test_the_image_has_k6_and_what_hooks_are_written_in(tmp_path: Path) -> None:
    shell = ("k6 version; for tool in bash python3 node git jq curl; do command -v $tool || echo no $tool; done; "
             "python3 -c 'import ssl; print(len(ssl.create_default_context().get_ca_certs()) > 100)'; "
             "ls /opt/k6/k6-1.1.0.dist-info/licenses; id -u; node -e 'console.log(1 + 1)'")
    seen = ran(tmp_path, shell)
    assert seen.stdout.kept.decode().splitlines() == [
        "k6 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)", "/usr/bin/bash", "/usr/bin/python3", "/usr/bin/node",
        "/usr/bin/git", "no jq", "no curl", "True", "LICENSE.txt", "10001", "2"], seen.stderr.kept


SCRIPT = "export default function () {}"


def hooks(setup: str, teardown: str = "true", seconds: int = 10) -> Hooks:
    return Hooks(("bash", "-c", setup), ("bash", "-c", teardown), seconds, seconds)


def test_a_hook_cannot_look_into_the_driver(tmp_path: Path) -> None:
    look = ("for pid in 1 $PPID; do cat /proc/$pid/environ >/dev/null 2>&1 && echo open $pid; "
            "cat /proc/$pid/maps >/dev/null 2>&1 && echo open $pid; done; env | grep -c jwt; exit 3")
    outcome, _, _ = drove(tmp_path, SCRIPT, (("LT_TOKEN_USER", "jwt-of-the-user"),),
                          hooks=hooks(f"({look}) >&2; exit 0"))
    assert (outcome["fixture"]["setup"]["status"], outcome["fixture"]["setup"]["stderr"]) == ("ok", "0\n")


@pytest.mark.parametrize("fill", ["cat /dev/zero >big", "for i in $(seq 20000); do : >f$i; done"],
                         ids=["bytes", "inodes"])
def test_a_hook_that_fills_the_volume_does_not_keep_the_outcome_out(tmp_path: Path, fill: str) -> None:
    outcome, _, _ = drove(tmp_path, SCRIPT, hooks=hooks(f"{fill} 2>/dev/null; exit 0", seconds=60))
    assert (outcome["state"], outcome["cleaned"]) == ("done", True)
    assert outcome["fixture"]["setup"]["status"] == "ok"


def test_a_script_without_an_end_is_stopped_and_the_hook_after_it_runs(tmp_path: Path) -> None:
    outcome, _, _ = drove(tmp_path, "export default function () { for (;;) {} }", engine_seconds=3.0,
                          hooks=hooks("true", "echo torn >&2"))
    assert (outcome["lifecycle"], outcome["engine"]["timed_out"], outcome["engine"]["survivors"]) == (
        "timed_out", True, False)
    assert (outcome["cleaned"], outcome["fixture"]["teardown"]["stderr"]) == (True, "torn\n")
    assert outcome["engine"]["seconds"] < 3 + 4 + 1


def test_a_flood_of_lines_and_points_is_cut_at_a_line_and_k6_lives(tmp_path: Path) -> None:
    script = HEAD + """
import { Counter } from 'k6/metrics';
const many = new Counter('many');
export default function () { for (let i = 0; i < 20000; i++) { many.add(1); console.log('x'.repeat(500)); } }
"""
    outcome, left, _ = drove(tmp_path, script, caps=Caps(console=100_000, metrics=200_000, output=10_000))
    dropped = dict(outcome["dropped"])
    assert (outcome["lifecycle"], outcome["engine"]["exit_code"]) == ("finished", 0)
    assert len(left["console.log"]) + dropped["console.log"] == 20_000 * 501
    assert dropped["metrics.jsonl"] > 1_000_000
    assert all(left[name].endswith(b"\n") and len(left[name]) <= cap
               for name, cap in (("console.log", 100_000), ("metrics.jsonl", 200_000)))


def test_a_script_that_breaks_is_told_with_k6s_own_words(tmp_path: Path) -> None:
    outcome, left, _ = drove(tmp_path, "throw new Error('from the script')")
    assert (outcome["lifecycle"], outcome["detail"]) == ("crashed", "k6 ended with 107")
    assert b"from the script" in left["engine.stderr.log"]


def test_k6_runs_under_no_option_of_the_environment(tmp_path: Path) -> None:
    script = HEAD + "export default function () { say(Object.keys(__ENV).sort()); }"
    outcome, left, _ = drove(tmp_path, script, (("K6_HTTP_DEBUG", "full"), ("K6_ITERATIONS", "500"), ("MINE", "1")))
    assert outcome["engine"]["exit_code"] == 0
    assert values_of(left) == [["HOME", "LANG", "LC_ALL", "LT_MAX_IN_FLIGHT", "LT_RUN_ID", "LT_SCHEDULE_JSON",
                                "LT_SEED", "LT_TARGET", "MINE", "PATH", "TZ"]]
