"""Descriptions of scenarios: what is made of them, and what is refused, by name."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import InputError, UsageError
from runner.scenarios.generate.write import GENERATORS, generate, write_scenario
from runner.scenarios.load import load_scenario

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
TENANTS: dict[str, Any] = json.loads((SAMPLES / "isolation" / "kit.json").read_text(encoding="utf-8"))
ORDERS: dict[str, Any] = json.loads((SAMPLES / "orders" / "kit.json").read_text(encoding="utf-8"))


def changed(raw: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with one value put in its place; ``None`` takes the place out."""
    made = copy.deepcopy(raw)
    place: Any = made
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


def kit_of(script: str) -> dict[str, Any]:
    text = script.split("const kit = ", 1)[1]
    kit: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    return kit


def write_down(raw: object, place: Path) -> Path:
    place.write_text(json.dumps(raw), encoding="utf-8")
    return place


@pytest.mark.parametrize(("kind", "raw"), [("tenant-isolation", TENANTS), ("idempotent-write", ORDERS)])
def test_the_same_description_gives_the_same_bytes_which_can_be_run(kind: str, raw: dict[str, Any],
                                                                    tmp_path: Path) -> None:
    made = write_scenario(kind, write_down(raw, tmp_path / "kit.json"), tmp_path / "one")
    assert generate(kind, raw, "kit.json").files() == {
        path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert load_scenario(tmp_path / "one").sha256 == made.scenario.sha256
    assert (made.scenario.planned_journeys, made.scenario.warnings) == (10, ())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kit.json", "one"]


def test_budgets_are_what_it_can_take() -> None:
    raw = {**TENANTS, "observations": [{"path": "/state", "assertion": "whole", "expected": {"": {"exists": True}}}],
           "fixtures": {"recipe": "own", "owned_http": {"create_path": "/f", "delete_path": "/f/{fixture_id}",
                                                        "id_pointer": "/id"}}, "max_in_flight": 3, "drain_seconds": 9}
    manifest = generate("tenant-isolation", raw, "kit.json").manifest
    # Of each owner: one read, one foreign read, one by nobody, and a write between two looks.
    assert manifest["journeys"][0]["max_requests"] == 2 * (1 + 1 + 1 + 3)
    assert manifest["journeys"][0]["max_writes"] == 2
    assert manifest["budgets"] == {
        "max_seconds": 6 + 2 + 10 + 5 + 9, "max_requests": 10 * 12 + 2 + 1, "max_write_attempts": 10 * 2 + 2,
        "max_in_flight": 3, "max_artifact_bytes": 16 << 20}
    assert manifest["assertions"][-1] == "whole"
    assert (manifest["fixtures"], manifest["observations"]) == (raw["fixtures"], raw["observations"])


def test_owners_writes_count_where_they_are_asked_for() -> None:
    once = generate("tenant-isolation", TENANTS, "kit.json").manifest["journeys"][0]
    again = generate("tenant-isolation", changed(TENANTS, "endpoints.1.check_own", True), "kit.json")
    journey = again.manifest["journeys"][0]
    assert (journey["max_requests"], journey["max_writes"]) == (once["max_requests"] + 2, once["max_writes"] + 2)
    assert (once["expected_statuses"]["own"], journey["expected_statuses"]["own"]) == ([200], [200, 201, 204])


def test_assertions_follow_from_the_description() -> None:
    plain = changed(changed(changed(TENANTS, "endpoints.1", None), "unauthenticated_probe", None),
                    "identities.0.markers", None)
    bundle = generate("tenant-isolation", changed(plain, "identities.1.markers", None), "kit.json")
    assert bundle.manifest["assertions"] == ["own_access", "cross_tenant_read_blocked"]
    assert [warning.split(" ")[0] for warning in bundle.warnings] == ["north", "south"]
    assert generate("idempotent-write", changed(ORDERS, "count", None), "kit.json").manifest["assertions"] == [
        "write_accepted", "same_answer"]
    assert generate("idempotent-write", changed(ORDERS, "write.same", None), "kit.json").manifest["assertions"] == [
        "write_accepted", "counted_once"]


def test_credentials_become_actors_and_secrets() -> None:
    minted = {"name": "south", "auth": {"secret_env": "KEY", "claims": {"sub": "south"}, "ttl_seconds": 60},
              "resources": ["south"]}
    bundle = generate("tenant-isolation", changed(TENANTS, "identities.1", minted), "kit.json")
    assert bundle.manifest["actors"][1]["auth"]["kind"] == "jwt_hs256"
    assert bundle.manifest["secret_env"] == ["TOKEN_NORTH"]
    kit = kit_of(bundle.script)
    assert [(who["token_env"], who["minted"]) for who in kit["identities"]] == [("TOKEN_NORTH", False), ("", True)]


def test_a_write_is_read_back_by_number_or_name() -> None:
    more = changed(TENANTS, "endpoints", [*TENANTS["endpoints"], {
        "method": "GET", "path": "/all?of={id}", "kind": "read", "name": "all"}])
    for wanted, index in ((None, 0), (0, 0), (2, 2), ("all", 2)):
        raw = changed(more, "endpoints.1.read_back", wanted) if wanted is not None else more
        assert kit_of(generate("tenant-isolation", raw, "kit.json").script)["endpoints"][1]["read_back"] == index


@pytest.mark.parametrize(("path", "value", "said"), [
    ("identities", [TENANTS["identities"][0]], "identities"), ("name", None, "name: is missing"),
    ("colour", "blue", "colour: is no field of a description for tenant-isolation"),
    ("fixtures", "none", "fixtures"), ("schedule", {}, "schedule"),
    ("identities.1.name", "north", "different names"), ("identities.1.resources", [{"key": "a"}], "the same keys"),
    ("identities.1.token_env", None, "needs auth, token_env or headers"),
    ("identities.1.auth", {"secret_env": "K", "ttl_seconds": 5}, "not both"),
    ("identities.1.markers", [""], "markers"),
    ("endpoints.1.method", "GET", "a write is no GET"), ("endpoints.0.check_own", True, "a read has no body"),
    ("endpoints.0.path", "/tenants/{other}/record", "{other} in its path"),
    ("endpoints.0.path", "/tenants/record", "which resource it is about"),
    ("endpoints.0.path", "/tenants/{id", "a brace that belongs to no placeholder"),
    ("endpoints.0.path", "/{id}/{journey}", "journey_in_path"), ("endpoints.0.path", "tenants/{id}", "one slash"),
    ("endpoints.1.read_back", 1, "neither the number nor the name of a read"),
    ("endpoints.1.read_back", "nothing", "neither the number nor the name of a read"),
    ("endpoints", [TENANTS["endpoints"][1]], "at least one endpoint must be a read"),
    ("observations", [{"path": "/", "assertion": "own_access", "expected": {"": 1}}], "is made here"),
    ("observations", [{"path": "/", "assertion": "x", "expected": {"": 1}, "origin": "http://a:1"}],
     "is not in allowed_origins"),
])
def test_a_breach_is_one_line_with_the_place(path: str, value: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        generate("tenant-isolation", changed(TENANTS, path, value), "kit.json")
    assert error.value.message.startswith("kit.json: ")
    assert said in error.value.message
    assert "\n" not in error.value.message


@pytest.mark.parametrize(("path", "value", "said"), [
    ("write.key_header", None, "nothing tells two writes apart"), ("write.path", "/orders/{id}", "only {journey}"),
    ("count.path", "/orders/{id}", "only {journey}"), ("copies", 1, "copies"), ("copies", 7, "copies"),
    ("write.method", "GET", "write.method"), ("write.same", "order", "JSON Pointer"),
])
def test_a_breach_of_a_write_is_one_line_with_the_place(path: str, value: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        generate("idempotent-write", changed(ORDERS, path, value), "kit.json")
    assert error.value.message.startswith("kit.json: ")
    assert said in error.value.message


def test_nothing_to_see_a_copy_by_is_refused() -> None:
    blind = changed(changed(ORDERS, "count", None), "write.same", None)
    with pytest.raises(InputError, match="needs count, or same"):
        generate("idempotent-write", blind, "kit.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"name": "a", "name": "b"}', "\x00", "NaN"])
def test_what_is_no_description_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "kit.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        write_scenario("tenant-isolation", tmp_path / "kit.json", tmp_path / "out")
    assert "\n" not in error.value.message
    assert not (tmp_path / "out").exists()


def test_nothing_is_written_over_and_nothing_is_left(tmp_path: Path) -> None:
    kit = write_down(TENANTS, tmp_path / "kit.json")
    (tmp_path / "there").mkdir()
    for out, error in ((tmp_path / "there", "exists already"), (tmp_path / "no" / "where", "No such file")):
        with pytest.raises(UsageError, match=error):
            write_scenario("tenant-isolation", kit, out)
    with pytest.raises(InputError, match="No such file"):
        write_scenario("tenant-isolation", tmp_path / "missing.json", tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kit.json", "there"]


_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)


@given(name=_TEXTS, header=_TEXTS, marker=_TEXTS, resource=_TEXTS)
def test_no_text_of_a_description_becomes_code(name: str, header: str, marker: str, resource: str) -> None:
    raw = {**TENANTS, "name": name, "identities": [
        {"name": "north", "headers": {"X-Own": header}, "resources": [resource], "markers": [marker]},
        TENANTS["identities"][1]]}
    script = generate("tenant-isolation", raw, "kit.json").script
    kit = kit_of(script)
    assert kit["identities"][0]["headers"] == {"X-Own": header}
    assert kit["identities"][0]["markers"] == [marker]
    plain = generate("tenant-isolation", TENANTS, "kit.json").script
    assert script.split("\n};\n", 1)[1] == plain.split("\n};\n", 1)[1], "what follows the data is the same code"
    assert script.isascii()


def test_all_kinds_are_offered() -> None:
    from runner.cli.init import KINDS

    assert tuple(GENERATORS) == KINDS
