"""Scenarios that are made from a description find what is wrong with an application, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli import runner

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
SHORT = {"unit": "journeys_per_second", "phases": [{"name": "only", "seconds": 1, "rate": 4}]}
TOKENS = {"TOKEN_NORTH": "north-token-1", "TOKEN_SOUTH": "south-token-1"}
ISOLATION = {"own_access", "cross_tenant_read_blocked", "cross_tenant_write_blocked", "victim_unchanged",
             "unauthenticated_rejected", "no_foreign_data_in_own_responses"}
WRITES = {"write_accepted", "same_answer", "counted_once"}


def scenario(kind: str, sample: str, place: Path) -> Path:
    """The sample's description with a short schedule, made into a scenario."""
    described = {**json.loads((SAMPLES / sample / "kit.json").read_text(encoding="utf-8")), "schedule": SHORT}
    (place / "kit.json").write_text(json.dumps(described), encoding="utf-8")
    made = runner("init", kind, "--config", str(place / "kit.json"), "--out", str(place / "scenario"), "--json")
    assert made.json["planned_journeys"] == 4
    return place / "scenario"


def failed(sample: str, made: Path, how: str, *words: str) -> tuple[set[str], dict[str, Any]]:
    """The assertions that do not hold."""
    ran = runner("verify", str(made), "--payload", str(SAMPLES / sample / "app"), "--target-command",
                 f"python3 server.py {how}", "--target-url", "http://127.0.0.1:8000", "--json", "--quiet",
                 "--out", str(made.parent / "run"), *words)
    rows = {row["id"]: row["status"] for row in ran.json["assertions"]}
    assert "unknown" not in rows.values(), ran.json["reasons"]
    assert (ran.json["verdict"], ran.code) == (("fail", 1) if "fail" in rows.values() else ("pass", 0))
    return {name for name, status in rows.items() if status == "fail"}, ran.json


@pytest.mark.parametrize(("how", "wanted"), [
    ("", set()), ("--leak", {"cross_tenant_read_blocked"}), ("--silent", {"victim_unchanged"}),
    ("--mixed", {"no_foreign_data_in_own_responses"}),
    ("--open", {"cross_tenant_read_blocked", "unauthenticated_rejected"})])
def test_tenants_that_are_not_kept_apart_are_found(how: str, wanted: set[str], tmp_path: Path) -> None:
    given = [word for name, value in TOKENS.items()
             for word in ("--env", f"{name}={value}", "--target-env", f"{name}={value}")]
    found, result = failed("isolation", scenario("tenant-isolation", "isolation", tmp_path), how, *given)
    assert found == wanted
    assert {row["id"] for row in result["assertions"]} == ISOLATION
    assert result["metrics"]["http_reqs"] == 4 * 12, "the declared most is what it takes"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert not [value for value in TOKENS.values() if value.encode() in kept]


@pytest.mark.parametrize(("how", "wanted"), [
    ("", set()), ("--careless", {"same_answer", "counted_once"}), ("--forgetful", {"same_answer"})])
def test_a_write_that_counts_twice_is_found(how: str, wanted: set[str], tmp_path: Path) -> None:
    found, result = failed("orders", scenario("idempotent-write", "orders", tmp_path), how)
    assert found == wanted
    assert {row["id"] for row in result["assertions"]} == WRITES
    assert result["metrics"]["http_reqs"] == 4 * 4
    assert result["metrics"]["overlap"]["write"] >= 2
