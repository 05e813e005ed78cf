"""Our own scenarios use every feature of the format, and plan the same number of journeys whatever the seed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from scenario_bundles import BUNDLES, Bundle

from runner.load.expressions import NAMES
from runner.load.matchers import MATCHERS
from runner.scenarios.load import load_scenario
from runner.scenarios.manifest import (
    ActorModel,
    Auth,
    BudgetsModel,
    CommandModel,
    Fixtures,
    JourneyModel,
    Manifest,
    ObservationModel,
    OwnedHttpModel,
    Until,
)

MODELS = (ActorModel, Auth, BudgetsModel, CommandModel, Fixtures, JourneyModel, Manifest, ObservationModel,
          OwnedHttpModel, Until)
HELPER = Path(__file__).parents[2] / "images" / "k6" / "runtime.js"


def manifests() -> list[dict[str, Any]]:
    return [json.loads((bundle.scenario / "manifest.json").read_text(encoding="utf-8")) for bundle in BUNDLES]


def scripts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for bundle in BUNDLES for path in bundle.scenario.rglob("*.js"))


def keys_in(value: Any) -> set[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set(value if isinstance(value, dict) else ()).union(*map(keys_in, inner))


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_plan_has_the_same_number_of_journeys_for_any_seed(bundle: Bundle) -> None:
    scenarios = [load_scenario(bundle.scenario, seed) for seed in range(20)]
    assert {one.planned_journeys for one in scenarios} == {bundle.labels["planned_journeys"]}
    assert not any(one.warnings for one in scenarios)
    assert 15 <= bundle.labels["planned_journeys"] <= 60
    assert sum(phase.seconds for phase in scenarios[0].schedule) <= 3


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_each_has_at_least_two_wrong_applications_with_all_labels(bundle: Bundle) -> None:
    labels = bundle.labels
    modes = set(labels["modes"])
    assert modes == set(labels["verdicts"]) == set(labels["exit_codes"]) == set(labels["assertions"])
    assert sum(verdict == "fail" for verdict in labels["verdicts"].values()) >= 2
    declared = set(load_scenario(bundle.scenario).assertions)
    assert all(set(rows) == declared for rows in labels["assertions"].values())


def test_every_field_of_a_manifest_is_used() -> None:
    fields = {name for model in MODELS for name in model.model_fields} - {"actor_class"}
    assert issubclass(Manifest, BaseModel)
    used = keys_in(manifests())
    assert fields - used == {"setup_timeout_seconds"}
    assert {"class", "phases", "profile"} <= used


def test_every_profile_matcher_and_name_is_used() -> None:
    found = manifests()
    kinds = {each["schedule"]["profile"]["kind"] for each in found if "profile" in each["schedule"]}
    assert kinds == {"spiky", "random_bursts", "sustained_burst"}
    expected = [look["expected"] for each in found
                for look in [*each.get("observations", ()), *filter(None, [each.get("observation")])]]
    assert keys_in(expected) >= MATCHERS
    assert set(re.findall(r"[a-z_]+", " ".join(re.findall(r"\$\{([^}]*)\}", json.dumps(expected))))) == NAMES


def test_every_export_of_the_helper_is_used() -> None:
    exports = re.findall(r"^export function (\w+)", HELPER.read_text(encoding="utf-8"), re.MULTILINE)
    imported = set(re.findall(r"\w+", " ".join(re.findall(r"import \{([^}]*)\} from '[./]+litetraffic", scripts()))))
    assert set(exports) <= imported
    assert "open('" in scripts()
