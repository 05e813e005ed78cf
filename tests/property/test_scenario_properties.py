"""Schedules of any profile and seed, and thousands of mutated manifests: a scenario or one line, never a traceback."""

from __future__ import annotations

import copy
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from scenario_drafts import AUTH, HOOKS, LOOK, OWNED, SCRIPT, changed, written

from runner.errors import InputError
from runner.load.job import HELPER
from runner.scenarios.imports import follow_imports
from runner.scenarios.load import load_scenario
from runner.scenarios.model import Scenario
from runner.scenarios.schedule import Schedule, planned

CASES = Path(__file__).parents[1] / "data" / "load"
MANY = settings(max_examples=settings().max_examples * 8, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(-(2**53) + 1, 2**53 - 1)

FULL: dict[str, Any] = {
    **changed("actors.0.auth", AUTH), "secret_env": ["A"], "allowed_origins": ["https://a.example"],
    "allowed_origins_env": "B", "observations": [{**LOOK, "origin": "https://a.example", "headers_env": {"X": "C"}}],
}
FULL["fixtures"] |= {"owned_http": OWNED, "parameters": {"a": [1]}}
FULL["journeys"][0] |= {"min_overlap": {"a": 2}, "expected_statuses": {"a": [200]}, "stages": ["a", "b"]}
BASES = [FULL, changed("fixtures.command", {**HOOKS, "inputs": ["journeys.js"]}),
         *(json.loads((CASES / name / "manifest.json").read_text()) for name in ("coupon_phases", "booking_owned"))]
HOSTILE = st.sampled_from([
    None, True, False, 0, -1, 1, 7, 2**63, 10**12, 10**400, 0.0, 1.5, 5.0, 1e308, "", "\0", "5", "x", "../x", "/", "//",
    "\ud800", "\x1b[2J\r\n", "x" * 20_000, "${1+", "${seed}", "{fixture_id}", "http://[::1", "http://169.254.169.254",
    [], {}, [[]], [{}], [None] * 300, {"": {}}, {"eq": 1, "len": 2}, {str(n): n for n in range(300)}, "A_B", "a\n"])


@st.composite
def bursts(draw: st.DrawFn) -> dict[str, Any]:
    """A profile whose bursts just fit, or fit easily."""
    spiky = draw(st.booleans())
    count, length = draw(st.integers(1, 12)), draw(st.integers(1, 9))
    low = draw(st.integers(1 if spiky else 0, 5))
    names = ("baseline_rate", "spike_rate", "spike_seconds", "spikes") if spiky \
        else ("quiet_rate", "burst_rate", "burst_seconds", "bursts")
    values = (low, low + draw(st.integers(1, 9)), length, count)
    return {"kind": "spiky" if spiky else "random_bursts", **dict(zip(names, values, strict=True)),
            "duration_seconds": count * length + draw(st.integers(0, 60))}


@given(bursts(), SEEDS)
def test_every_seed_admits_as_many_in_as_much_time_and_each_burst_in_its_share(profile: dict[str, Any],
                                                                               seed: int) -> None:
    schedule = Schedule.model_validate({"unit": "journeys_per_second", "profile": profile})
    phases = schedule.resolve(seed)
    (_, _, (_, low), (_, high), (_, length), (_, count), (_, duration)) = (("", 0), *profile.items())
    assert planned(phases) == planned(schedule.resolve(0)) == duration * low + count * length * (high - low)
    assert sum(phase.seconds for phase in phases) == duration
    assert all(one.rate != other.rate for one, other in pairwise(phases))
    assert [phase.name.rpartition("-")[2] for phase in phases] == [str(n) for n in range(1, len(phases) + 1)]
    seconds = [phase.rate for phase in phases for _ in range(phase.seconds)]
    for index in range(count):
        share = seconds[index * duration // count:(index + 1) * duration // count]
        assert share.count(high) == length
    assert schedule.resolve(-seed) == phases


@given(st.integers(0, 50), st.integers(1, 50), *[st.integers(1, 40)] * 3)
def test_a_ramp_never_falls_and_ends_on_its_plateau(base: int, rise: int, ramp: int, plateau: int, after: int) -> None:
    phases = Schedule.model_validate({"unit": "journeys_per_second", "profile": {
        "kind": "sustained_burst", "baseline_rate": base, "plateau_rate": base + rise, "ramp_seconds": ramp,
        "plateau_seconds": plateau, "recovery_seconds": after}}).resolve(1)
    rates = [phase.rate for phase in phases[:-1]]
    assert rates == sorted(rates)
    assert rates[-1] == rates[-2] == base + rise
    assert rates[0] > base
    assert phases[-1].rate == base
    assert sum(phase.seconds for phase in phases) == ramp + plateau + after


def places(value: Any) -> list[Any]:
    """Every object and array in a document that is not empty."""
    children = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return ([value] if children else []) + [place for child in children for place in places(child)]


@st.composite
def mutants(draw: st.DrawFn) -> Any:
    """A manifest with a few of its values replaced, taken away or added."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(places(document) or [{}]))
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))) if place else None
        how = draw(st.sampled_from(["replace", "replace", "replace", "drop", "add", "move"]))
        if key is None:
            continue
        if how == "drop":
            del place[key]
        elif how == "add" and isinstance(place, dict):
            place[draw(st.sampled_from(["extra", "", "profile", "observation", "pool", "\ud800", "__class__"]))] = \
                draw(HOSTILE)
        elif how == "move":
            place[key] = copy.deepcopy(draw(st.sampled_from(places(FULL))))
        else:
            place[key] = draw(HOSTILE)
    return document


def taken_or_told(folder: Path, raw: bytes) -> Scenario | None:
    try:
        return load_scenario(written(folder, raw, journeys_js=SCRIPT), 3)
    except InputError as error:
        message = error.message
    assert message.isprintable()
    assert message.startswith(f"{folder}/")
    assert len(message) < 900 + len(str(folder))
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutants")


@pytest.mark.parametrize("base", BASES, ids=range(len(BASES)))
def test_what_is_mutated_is_right_before(folder: Path, base: Any) -> None:
    assert taken_or_told(folder, json.dumps(base).encode()) is not None


@MANY
@given(mutants())
def test_a_mutated_manifest_is_taken_or_told(folder: Path, document: Any) -> None:
    scenario = taken_or_told(folder, json.dumps(document).encode())
    event("taken" if scenario else "told")
    if scenario is not None:
        assert 1 <= scenario.planned_journeys <= 10_000_000
        assert scenario.maxima.seconds <= scenario.budgets.max_seconds
        assert all(type(phase.seconds) is int and type(phase.rate) is int for phase in scenario.schedule)
        assert all(text.isprintable() for text in scenario.warnings)


@MANY
@given(st.sampled_from(BASES), st.integers(0, 5000), st.binary(max_size=4))
def test_bytes_in_the_middle_of_a_manifest(folder: Path, base: Any, at: int, put: bytes) -> None:
    raw = json.dumps(base).encode()
    taken_or_told(folder, raw[:at % len(raw)] + put + raw[at % len(raw) + len(put):])


PIECES = st.sampled_from(["import ", "from ", "require(", "import(", "open(", "'", '"', "`", "./", "../", "/", "k6/x/",
                          "k6/http", "a.js", "journeys.js", HELPER, "://", "file:", "//", "/*", "*/", "\n", " ", "\\",
                          ")", "${", "\0", "é", "function "])


@MANY
@given(st.lists(PIECES, max_size=25))
def test_a_script_of_any_text_reaches_nothing_outside(folder: Path, pieces: list[str]) -> None:
    root = written(folder / "scripts", journeys_js="".join(pieces), a_js="")
    try:
        found = follow_imports(root, "journeys.js")
        reached = {*found.scripts, *found.opened}
    except InputError as error:
        reached = {error.message} if not error.message.isprintable() else set()
    assert reached <= {"journeys.js", "a.js", "manifest.json"}
