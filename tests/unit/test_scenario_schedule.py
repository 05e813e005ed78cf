"""The vectors of LiteTraffic's schedules, and what holds for every seed of one profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from runner.load.job import Phase
from runner.scenarios.load import load_scenario
from runner.scenarios.schedule import Schedule, planned

CASES = Path(__file__).parents[1] / "data" / "load"
SPIKY = {"kind": "spiky", "duration_seconds": 5, "baseline_rate": 1, "spike_rate": 4, "spike_seconds": 1, "spikes": 1}
SHORT = {"kind": "random_bursts", "duration_seconds": 8, "quiet_rate": 0, "burst_rate": 3, "burst_seconds": 1,
         "bursts": 2}
LONG = {"kind": "random_bursts", "duration_seconds": 60, "quiet_rate": 1, "burst_rate": 10, "burst_seconds": 5,
        "bursts": 4}


def resolved(profile: dict[str, Any], seed: int) -> tuple[Phase, ...]:
    return Schedule.model_validate({"unit": "journeys_per_second", "profile": profile}).resolve(seed)


def starts(phases: tuple[Phase, ...], name: str) -> list[int]:
    """Seconds at which phases of this kind begin."""
    return [sum(before.seconds for before in phases[:index]) for index, phase in enumerate(phases)
            if phase.name.startswith(name + "-")]


def short(phases: tuple[Phase, ...]) -> str:
    return ",".join(f"{phase.seconds}@{phase.rate}" for phase in phases)


@pytest.mark.parametrize(("seed", "expected"), [
    (0, "3@1,1@4,1@1"), (1, "1@1,1@4,3@1"), (2, "1@4,4@1"), (42, "1@4,4@1"), (-1, "1@1,1@4,3@1")])
def test_one_spike(seed: int, expected: str) -> None:
    phases = resolved(SPIKY, seed)
    assert short(phases) == expected
    assert planned(phases) == 8


@pytest.mark.parametrize(("profile", "seed", "expected"), [
    (SHORT, 0, [3, 7]), (SHORT, 1, [1, 4]), (SHORT, 42, [0, 4]), (SHORT, 43, [0, 6]),
    (LONG, 0, [6, 21, 30, 49]), (LONG, 7, [5, 17, 36, 55])])
def test_where_bursts_start(profile: dict[str, Any], seed: int, expected: list[int]) -> None:
    assert starts(resolved(profile, seed), "burst") == expected


def test_neighbouring_bursts_are_one_phase() -> None:
    assert resolved(SHORT, 44) == (Phase("quiet-1", 3, 0), Phase("burst-2", 2, 3), Phase("quiet-3", 3, 0))


@pytest.mark.parametrize("seed", range(20))
def test_spikes_that_fill_their_shares(seed: int) -> None:
    full = {**SPIKY, "duration_seconds": 6, "spike_rate": 3, "spike_seconds": 2, "spikes": 3}
    assert resolved(full, seed) == (Phase("spike-1", 6, 3),)


def test_a_sustained_burst_climbs_in_whole_steps() -> None:
    profile = {"kind": "sustained_burst", "baseline_rate": 1, "plateau_rate": 8, "ramp_seconds": 3,
               "plateau_seconds": 4, "recovery_seconds": 2}
    assert resolved(profile, 0) == resolved(profile, 99)
    assert short(resolved(profile, 5)) == "1@4,1@6,1@8,4@8,2@1"


def test_the_seed_changes_no_explicit_phase() -> None:
    schedule = Schedule.model_validate({"unit": "journeys_per_second", "phases": [
        {"name": "a", "seconds": 10, "rate": 1}, {"name": "a", "seconds": 2, "rate": 120},
        {"name": "b", "seconds": 20, "rate": 1}]})
    assert planned(schedule.resolve(3)) == 270
    assert schedule.resolve(3) == schedule.resolve(0)


@pytest.mark.parametrize("case", ["coupon_phases", "booking_owned"])
def test_a_case_resolves_as_its_label_says(case: str) -> None:
    label = json.loads((CASES / case / "expect.json").read_text())
    scenario = load_scenario(CASES / case, label["seed"])
    assert scenario.planned_journeys == label["planned_journeys"]
    assert [{"name": each.name, "seconds": each.seconds, "rate": each.rate} for each in scenario.schedule] \
        == label["resolved_schedule"]
    assert scenario.warnings == ()
    assert scenario.helper


def test_a_profile_of_no_kind_is_no_schedule() -> None:
    with pytest.raises(ValidationError, match="kind"):
        Schedule.model_validate({"unit": "journeys_per_second", "profile": {}})
