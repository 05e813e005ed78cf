"""Budget sums before anything starts: what just fits is taken, one less is refused in one exact line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenario_drafts import HOOKS, LOOK, OWNED, changed, written

from runner.errors import InputError
from runner.scenarios.load import load_scenario
from runner.scenarios.model import Maxima

POLLED = {**LOOK, "until": {"deadline_seconds": 5.5, "interval_seconds": 2}}
WITH = {
    "nothing": ({}, Maxima(60, 20, 4, 0, 0, 6)),
    "owned": ({"fixtures": {"recipe": "r", "owned_http": OWNED}}, Maxima(62, 22, 4, 10, 0, 16)),
    "hooks": ({"fixtures": {"recipe": "r", "command": {**HOOKS, "setup_timeout_seconds": 7}}},
              Maxima(60, 20, 4, 20, 0, 26)),
    "looks": ({"observations": [LOOK, {**POLLED, "assertion": "bought"}]}, Maxima(65, 20, 4, 0, 16, 22)),
    "worst": ({"journeys": [{"name": "a", "max_requests": 1, "max_writes": 4},
                            {"name": "b", "max_requests": 9, "max_writes": 0}]}, Maxima(180, 80, 4, 0, 0, 6)),
}


def draft(name: str, **less: int) -> dict[str, Any]:
    """A manifest whose budgets are its maxima, some of them one less."""
    fields, most = WITH[name]
    budgets = {"max_requests": most.requests, "max_write_attempts": most.writes, "max_seconds": most.seconds,
               "max_in_flight": 1, "max_artifact_bytes": 1}
    return {**changed(), **fields, "budgets": {key: value - less.get(key, 0) for key, value in budgets.items()}}


@pytest.mark.parametrize("name", WITH)
def test_what_just_fits(tmp_path: Path, name: str) -> None:
    scenario = load_scenario(written(tmp_path / "s", draft(name)))
    assert scenario.maxima == WITH[name][1]
    assert scenario.engine_seconds == 6


@pytest.mark.parametrize("budget", ["max_requests", "max_write_attempts", "max_seconds"])
@pytest.mark.parametrize("name", WITH)
def test_one_less_is_refused(tmp_path: Path, name: str, budget: str) -> None:
    document = draft(name, **{budget: 1})
    allowed = document["budgets"][budget]
    with pytest.raises(InputError) as caught:
        load_scenario(written(tmp_path / "s", document))
    assert caught.value.message == (f"{tmp_path}/s/manifest.json: budgets.{budget}: is {allowed},"
                                    f" and the scenario may need {allowed + 1}")
    assert "raise the budget" in caught.value.hint


def test_limits_of_hooks(tmp_path: Path) -> None:
    hooks = load_scenario(written(tmp_path / "s", draft("hooks"))).hooks
    assert hooks is not None
    assert (hooks.setup_seconds, hooks.teardown_seconds) == (7, 5)
