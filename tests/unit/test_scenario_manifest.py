"""Every rule of ``manifest.json``: what breaks it is told by its path; what is loose is taken, and told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenario_drafts import AUTH, HOOKS, LOOK, OWNED, changed, written

from runner.errors import InputError, UsageError
from runner.scenarios.load import load_scenario

PROFILE = {"kind": "spiky", "duration_seconds": 5, "baseline_rate": 1, "spike_rate": 4, "spike_seconds": 1, "spikes": 1}
MANY = [{"name": f"p{number}", "seconds": 1, "rate": 1} for number in range(10_001)]


def look(**fields: Any) -> dict[str, Any]:
    return {**LOOK, **fields}


def auth(**fields: Any) -> dict[str, Any]:
    return {**AUTH, **fields}


def refusal(folder: Path, manifest: Any, **files: str) -> str:
    with pytest.raises(InputError) as caught:
        load_scenario(written(folder / "s", manifest, **files))
    message = caught.value.message
    assert message.isprintable()
    assert len(message) < 900 + len(str(folder))
    assert message.startswith(f"{folder}/s/")
    return message.removeprefix(f"{folder}/s/")


WRONG: list[tuple[str, Any, str]] = [
    ("extra", 1, "extra: is no field"),
    ("schedule.phases.0.extra", 1, "schedule.phases.0.extra: is no field"),
    ("budgets.extra", 1, "budgets.extra: is no field"),
    ("schema_version", 2, "schema_version: is 2"),
    ("name", "", "name: is"),
    ("name", 5, "name: is 5"),
    ("script", "gone.js", "script: gone.js is not a file"),
    ("script", "../s2/x.js", "script: ../s2/x.js is not a file"),
    ("script", "/etc/passwd", "script: is"),
    ("script", "a\0", "script: is"),
    ("script", "x" * 5000, "script: xxx"),
    ("actors", [], "actors: "),
    ("actors.0.count", 0, "actors.0.count: is 0"),
    ("actors.0.class", "", "actors.0.class: is"),
    ("actors.0.auth", auth(kind="rs256"), "actors.0.auth.kind: is"),
    ("actors.0.auth", auth(secret_env="key"), "actors.0.auth.secret_env: is"),
    ("actors.0.auth", auth(secret_env="KEY\n"), "actors.0.auth.secret_env: is"),
    ("actors.0.auth", auth(ttl_seconds=86_401), "actors.0.auth.ttl_seconds: is 86401"),
    ("actors.0.auth", auth(claims={"a": ["${home}"]}), "actors.0.auth.claims: knows only"),
    ("actors.0", {"class": "-", "count": 1, "auth_recipe": "x", "auth": AUTH}, "needs a letter or a digit"),
    ("actors", [{"class": name, "count": 1, "auth_recipe": "x", "auth": AUTH} for name in ("a b", "A-B!")],
     "two actor classes would be in one variable"),
    ("fixtures", {}, "fixtures.recipe: is missing"),
    ("fixtures", {"recipe": "r", "owned_http": OWNED, "command": HOOKS}, "fixtures: owned_http and command cannot"),
    *(("fixtures.owned_http", {**OWNED, "create_path": path}, "fixtures.owned_http.create_path: is")
      for path in ("rooms", "//rooms", "/a?b", "/a#b", "/a\nb")),
    *(("fixtures.owned_http", {**OWNED, "delete_path": path}, "fixtures.owned_http.delete_path: is")
      for path in ("/rooms", "/{fixture_id}/x", "/{fixture_id}/{fixture_id}", "/a/../{fixture_id}", "/./{fixture_id}",
                   "/a%2f/{fixture_id}", "/x{fixture_id}", "//h/{fixture_id}", "/{fixture_id}?a")),
    ("fixtures.owned_http", {**OWNED, "id_pointer": "id"}, "fixtures.owned_http.id_pointer: is"),
    ("fixtures.owned_http", {**OWNED, "id_pointer": ""}, "fixtures.owned_http.id_pointer: is"),
    ("fixtures.owned_http", {**OWNED, "create_body": []}, "fixtures.owned_http.create_body: "),
    ("fixtures.command", {**HOOKS, "timeout_seconds": None}, "fixtures.command: needs setup_timeout_seconds"),
    ("fixtures.command", {**HOOKS, "timeout_seconds": None, "setup_timeout_seconds": 3},
     "fixtures.command: needs teardown_timeout_seconds"),
    ("fixtures.command", {**HOOKS, "timeout_seconds": 61}, "fixtures.command.timeout_seconds: is 61"),
    ("fixtures.command", {**HOOKS, "setup": []}, "fixtures.command.setup: "),
    ("fixtures.command", {**HOOKS, "setup": [""]}, "fixtures.command.setup.0: is"),
    ("fixtures.command", {**HOOKS, "cwd": "/"}, "fixtures.command.cwd: is"),
    ("fixtures.command", {**HOOKS, "inputs": ["gone.sql"]}, "fixtures.command.inputs: gone.sql is not a file"),
    ("fixtures.pool", "gone.json", "fixtures.pool: gone.json is not a file"),
    ("journeys.0.max_requests", 0, "journeys.0.max_requests: is 0"),
    ("journeys.0.max_writes", -1, "journeys.0.max_writes: is -1"),
    ("journeys.0.min_overlap", {"a": 0}, "journeys.0.min_overlap.a: is 0"),
    ("journeys.0.expected_statuses", {"a": []}, "journeys.0.expected_statuses.a: "),
    *(("journeys.0.expected_statuses", {"a": [200, item]}, "journeys.0.expected_statuses.a.1: is")
      for item in ("200", 200.0, True, 99, 600)),
    *(("journeys.0.stages", stages, "journeys.0.stages") for stages in
      ([], ["a", "a"], ["A"], ["1a"], ["a" * 41], [f"s{number}" for number in range(13)])),
    ("assertions", [], "assertions: "),
    ("observer", "", "observer: is"),
    ("observation", look(assertion="other"), "which assertions does not list"),
    ("observations", [LOOK, LOOK], "two observations are for one assertion"),
    ("observation", look(path="//evil"), "observation.path: is"),
    ("observation", look(path="/a#b"), "observation.path: is"),
    ("observation", look(expected={}), "observation.expected: "),
    ("observation", look(expected={"left": 1}), "observation.expected.left: is"),
    *(("observation", look(expected={"/a": wrong}), "observation.expected: /a: ") for wrong in
      ({"eq": 1, "gte": 1}, {"gte": "1"}, {"lte": True}, {"len": -1}, {"len": 1.0}, {"exists": 1},
       {"exists": "${seed}"}, "${}", "${planned}", "${1/2}", "${" + "(" * 40 + "1" + ")" * 40 + "}",
       "${1" + "+1" * 150 + "}")),
    ("observation", look(headers_env={"a b": "X"}), "observation.headers_env"),
    ("observation", look(headers_env={"A": "x"}), "observation.headers_env.A: is"),
    ("observation", look(origin="http://a", origin_env="B"), "observation: give origin or origin_env"),
    ("observation", look(origin="http://a"), "is not in allowed_origins"),
    ("observation", look(origin_env="b"), "observation.origin_env: is"),
    *(("observation", look(until={"deadline_seconds": deadline, "interval_seconds": interval}), "observation.until")
      for deadline, interval in ((0, 1), (61, 1), (5, 0.4), (1, 2), (-1, 0.5))),
    *(("allowed_origins", [origin], "allowed_origins.0: is") for origin in
      ("a", "ftp://a", "//a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "http://a:99999", "http://a:x",
       "http://a b", "http://[::1", "http://169.254.169.254", "http://0xA9FEA9FE", "http://[fe80::1]",
       "http://[::ffff:169.254.1.1]", "http://metadata.google.internal.", "http://[fd00:ec2::254]", "http://a\\b")),
    ("allowed_origins_env", "x", "allowed_origins_env: is"),
    ("secret_env", ["x-y"], "secret_env.0: is"),
    *((f"budgets.{name}", 0, f"budgets.{name}: is 0") for name in
      ("max_seconds", "max_requests", "max_in_flight", "max_artifact_bytes")),
    ("budgets.max_write_attempts", -1, "budgets.max_write_attempts: is -1"),
    ("schedule.unit", "per_minute", "schedule.unit: is"),
    ("schedule.phases", None, "schedule: give exactly one"),
    ("schedule.profile", PROFILE, "schedule: give exactly one"),
    ("schedule.phases", [], "schedule.phases: "),
    ("schedule.phases.0.rate", -1, "schedule.phases.0.rate: is -1"),
    ("schedule.phases.0.rate", 0, "schedule: admits no journey"),
    ("schedule.phases.0.rate", 1.5, "schedule.phases.0.rate: is 1.5"),
    ("schedule.phases.0.seconds", 0, "schedule.phases.0.seconds: is 0"),
    ("schedule.phases.0.seconds", 10**12, "schedule.phases.0.seconds: is 1000000000000"),
    ("schedule.phases.0.seconds", 10**400, "schedule.phases.0.seconds: is an integer of"),
    ("schedule.phases.0.seconds", 86_401, "schedule: takes 86401 s, more than a day"),
    ("schedule.phases.0.rate", 10**9, "schedule: admits 4000000000 journeys, more than"),
    ("schedule.phases", MANY, "schedule.phases: "),
    *(("schedule", {"unit": "journeys_per_second", "profile": {**PROFILE, **fields}}, f"schedule.profile{where}")
      for fields, where in (({"kind": "wave"}, ": "), ({"spike_rate": 1}, ": spike_rate must"),
                            ({"spikes": 6}, ": 6 spikes"), ({"spike_seconds": 6}, ": 1 spikes of 6 s"),
                            ({"duration_seconds": 10**9}, ": duration_seconds must be at most"),
                            ({"baseline_rate": 0}, ".baseline_rate: is 0"), ({"bursts": 1}, ".bursts: is no field"))),
    ("schedule", {"unit": "journeys_per_second", "profile": {
        "kind": "sustained_burst", "baseline_rate": 0, "plateau_rate": 1, "ramp_seconds": 10**9, "plateau_seconds": 1,
        "recovery_seconds": 1}}, "schedule.profile: ramp_seconds must be at most"),
]


@pytest.mark.parametrize(("path", "value", "said"), WRONG, ids=[f"{n}-{path}" for n, (path, _, _) in enumerate(WRONG)])
def test_what_breaks_a_rule_is_told_by_its_path(tmp_path: Path, path: str, value: Any, said: str) -> None:
    message = refusal(tmp_path, changed(path, value))
    assert message.startswith("manifest.json: ")
    assert said in message


@pytest.mark.parametrize("name", ["schema_version", "name", "script", "actors", "fixtures", "journeys", "schedule",
                                  "assertions", "observer", "budgets"])
def test_what_is_needed_is_missed(tmp_path: Path, name: str) -> None:
    document = changed()
    del document[name]
    assert refusal(tmp_path, document) == f"manifest.json: {name}: is missing"


def test_one_observation_or_several_not_both(tmp_path: Path) -> None:
    document = {**changed("observation", LOOK), "observations": [look(assertion="bought")]}
    assert "give observation or observations, not both" in refusal(tmp_path, document)
    assert not load_scenario(written(tmp_path / "one", {**document, "observations": []})).listed


RIGHT: list[tuple[str, Any]] = [
    ("actors.0", {"actor_class": "buyer", "count": 1, "auth_recipe": "x"}),
    ("actors.0.auth", auth(claims={})), ("actors.0.auth", {k: v for k, v in AUTH.items() if k != "claims"}),
    ("assertions", ["a", "a", ""]), ("fixtures.owned_http", OWNED),
    ("observation", look(expected={"": {"len": "${planned_journeys - 30}"}, "/a~1b": {"eq": 1, "x": 2}, "/c": None})),
    ("observation", look(expected={"/a": {"gte": "${2 * (seed + 1)}"}}, path="/a b?c=é")),
    ("journeys.0.stages", None), ("journeys.0.expected_statuses", {"buy": [100, 599]}),
    ("script", "./x/../journeys.js"),
]


@pytest.mark.parametrize(("path", "value"), RIGHT, ids=[f"{n}-{path}" for n, (path, _) in enumerate(RIGHT)])
def test_what_litetraffic_takes_is_taken(tmp_path: Path, path: str, value: Any) -> None:
    scenario = load_scenario(written(tmp_path / "s", changed(path, value)))
    assert scenario.planned_journeys == 20
    assert scenario.script == "journeys.js"


def test_loose_types_become_whole_numbers_and_are_told(tmp_path: Path) -> None:
    document = changed("schedule.phases", [{"name": "a", "seconds": "4", "rate": 5.0}])
    document["schema_version"] = True
    document["journeys"][0] |= {"max_requests": "3", "min_overlap": {"pay\x1b": 2.0}}
    document["observation"] = look(until={"deadline_seconds": "5", "interval_seconds": 1}, expected={"/a": 5.0})
    document["actors"][0]["auth"] = auth(per_identity="yes", claims={"n": "5"})
    scenario = load_scenario(written(tmp_path / "s", document))
    assert scenario.schedule[0].seconds == 4
    assert type(scenario.schedule[0].rate) is int
    assert set(scenario.warnings) == {
        "schema_version: is true, taken as 1; write it so",
        'actors.0.auth.per_identity: is "yes", taken as true; write it so',
        'journeys.0.max_requests: is "3", taken as 3; write it so',
        "journeys.0.min_overlap.pay\\x1b: is 2.0, taken as 2; write it so",
        'schedule.phases.0.seconds: is "4", taken as 4; write it so',
        "schedule.phases.0.rate: is 5.0, taken as 5; write it so",
        'observation.until.deadline_seconds: is "5", taken as 5.0; write it so',
    }


def test_many_loose_types_are_a_few_warnings(tmp_path: Path) -> None:
    document = changed("schedule.phases", [{"name": "a", "seconds": "1", "rate": "1"}] * 50)
    assert len(load_scenario(written(tmp_path / "s", document)).warnings) == 20


@pytest.mark.parametrize(("text", "normal"), [
    ("HTTPS://API.Example.com:443/", "https://api.example.com"), ("http://a:80", "http://a"),
    ("http://a:8080", "http://a:8080"), ("http://[2001:DB8::1]:81", "http://[2001:db8::1]:81"),
    ("http://bücher.example/", "http://xn--bcher-kva.example"), ("https://a/base/", "https://a/base"),
])
def test_origins_have_one_spelling(tmp_path: Path, text: str, normal: str) -> None:
    document = {**changed("allowed_origins", [text]), "observation": look(origin=text)}
    scenario = load_scenario(written(tmp_path / "s", document))
    assert scenario.allowed_origins == (normal,)
    assert scenario.observations[0].origin == normal


def test_paths_are_as_they_go_over_the_wire(tmp_path: Path) -> None:
    document = {**changed("observation", look(path="/a b/é?c=%20&d={1}"))}
    assert load_scenario(written(tmp_path / "s", document)).observations[0].path == "/a%20b/%C3%A9?c=%20&d={1}"


def test_variables_and_secrets_by_name(tmp_path: Path) -> None:
    document = changed("actors.0.auth", AUTH)
    document |= {"secret_env": ["MORE"], "allowed_origins_env": "EXTRA", "observations": [
        look(bearer_token_env="LT_TOKEN_BUYER", origin_env="PLACE", headers_env={"X-Key": "HEADER"})]}
    document["fixtures"]["owned_http"] = {**OWNED, "bearer_token_env": "ADMIN"}
    scenario = load_scenario(written(tmp_path / "s", document))
    assert scenario.secrets == ("ADMIN", "HEADER", "KEY", "MORE")
    assert scenario.environment == ("ADMIN", "EXTRA", "HEADER", "KEY", "MORE", "PLACE")
    assert scenario.warnings == ()


def test_a_token_that_nobody_mints_is_told(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path / "s", changed("observation", look(bearer_token_env="LT_TOKEN_NOBODY"))))
    assert "LT_TOKEN_NOBODY: no actor class" in scenario.warnings[0]


def test_the_class_of_a_token_variable(tmp_path: Path) -> None:
    document = changed("actors.0", {"class": "--Big  buyer.2é", "count": 3, "auth_recipe": "x", "auth": AUTH})
    assert load_scenario(written(tmp_path / "s", document)).actors[0].variable == "BIG_BUYER_2"


@pytest.mark.parametrize("seed", [2**53, -(2**53), 10**400])
def test_a_seed_that_no_script_could_hold(tmp_path: Path, seed: int) -> None:
    with pytest.raises(UsageError, match="below 2"):
        load_scenario(written(tmp_path / "s"), seed)
