"""What the driver is told to keep: what the scenario's budget has room for, and the policy lets out of the volume."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from runner.controller.loads.request import LoadRequest, settle_load
from runner.controller.loads.staging import job_of
from runner.controller.sessions.request import Application
from runner.load.job import Caps

BUNDLE = Path(__file__).parents[1] / "data" / "scenarios" / "cached_search"
MIB = 1 << 20


def caps(place: Path, budget: int) -> Caps:
    scenario = place / "scenario"
    shutil.copytree(BUNDLE / "scenario", scenario)
    manifest: dict[str, Any] = json.loads((scenario / "manifest.json").read_bytes())
    manifest["budgets"]["max_artifact_bytes"] = budget
    (scenario / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    application = Application(payload=str(BUNDLE / "app"), command="python3 app.py", url="http://127.0.0.1:8000")
    settled = settle_load(LoadRequest(str(scenario), application, env=("SHOP_KEY=k",)))
    return job_of(settled, "run", ()).caps


@pytest.mark.parametrize(("budget", "console", "metrics"), [
    (1000, MIB + 1000, MIB + 1000), (100 * MIB, 16 * MIB, 101 * MIB), (1 << 40, 16 * MIB, 236 * MIB)])
def test_what_is_kept_follows_the_budget_up_to_what_the_policy_lets_out(
        tmp_path: Path, budget: int, console: int, metrics: int) -> None:
    assert caps(tmp_path, budget) == Caps(console, metrics, MIB)
