"""What an earlier run says of itself, and how a later one differs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.controller.loads.recorded import drift_of, read_recorded
from runner.errors import UsageError
from runner.load.job import HELPER
from runner.scenarios.load import load_scenario

SCENARIO = Path(__file__).parents[2] / "docs" / "samples" / "coupon" / "scenario"
K6 = "k6 v1.1.0 (linux/amd64)"


def run_of(**changes: Any) -> dict[str, Any]:
    scenario = load_scenario(SCENARIO)
    return {"engine": K6, "scenario_sha256": scenario.sha256, "seed": 0,
            "resolved_schedule": [{"name": phase.name, "seconds": phase.seconds, "rate": phase.rate}
                                  for phase in scenario.schedule], **changes}


def lock_of(**changes: Any) -> dict[str, Any]:
    scenario = load_scenario(SCENARIO)
    return {"engine": K6, "manifest": scenario.manifest, "files": dict(scenario.files), **changes}


def differing(place: Path, engine: str = K6, seed: int = 0) -> list[tuple[str, str | None, str | None]]:
    return [(row.what, row.recorded, row.used)
            for row in drift_of(read_recorded(place), load_scenario(SCENARIO, seed), engine)]


def put(place: Path, **files: object) -> Path:
    for name, document in files.items():
        named = {"run": "run.json", "lock": "scenario.lock.json"}[name]
        (place / named).write_text(json.dumps(document), encoding="utf-8")
    return place


def test_the_same_has_no_drift(tmp_path: Path) -> None:
    put(tmp_path, run=run_of(), lock=lock_of())
    for place in (tmp_path, tmp_path / "run.json", tmp_path / "scenario.lock.json"):
        assert differing(place) == []


def test_what_differs_is_told_one_by_one(tmp_path: Path) -> None:
    put(tmp_path, run=run_of(engine="k6 v2.2.0", seed=3, scenario_sha256="0" * 64,
                             resolved_schedule=[{"name": "a", "seconds": 2, "rate": 3}]))
    assert differing(tmp_path) == [
        ("k6", "k6 v2.2.0", K6), ("scenario", "0" * 64, load_scenario(SCENARIO).sha256), ("seed", "3", "0"),
        ("schedule", "6 journeys in 1 phases", "25 journeys in 2 phases")]


def test_litetraffics_own_helper_is_no_other_scenario(tmp_path: Path) -> None:
    files = {**load_scenario(SCENARIO).files, HELPER: "ab" * 32}
    put(tmp_path, run=run_of(scenario_sha256="1" * 64), lock=lock_of(files=files))
    assert differing(tmp_path) == []
    assert [what for what, _, _ in differing(tmp_path / "run.json")] == ["scenario"]
    put(tmp_path, lock=lock_of(files={**files, "journeys.js": "cd" * 32}))
    assert [what for what, _, _ in differing(tmp_path)] == ["scenario"]


def test_a_run_whose_k6_never_started_says_nothing_of_it(tmp_path: Path) -> None:
    assert differing(put(tmp_path, run=run_of(engine=""))) == []


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": []}', '{"engine": 1, "files": {"a": "b"}}', "5",
                                  '{"engine": "k", "scenario_sha256": "a", "seed": "x", "resolved_schedule": []}'])
def test_what_is_no_run_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text, encoding="utf-8")
    for place in (tmp_path, tmp_path / "run.json", tmp_path / "none"):
        with pytest.raises(UsageError) as error:
            read_recorded(place)
        assert error.value.message.startswith("--recorded ")
        assert "\n" not in error.value.message
