"""Each of our own scenarios finds what is wrong with an application, by the right assertion, and nothing else.

``LOAD_SEEDS=10`` runs every mode with ten seeds in a row.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli import runner
from scenario_bundles import BUNDLES, Bundle

WRONG = [(bundle, mode) for bundle in BUNDLES for mode in bundle.labels["modes"] if mode != "right"]
SEEDS_OF_RIGHT, SEEDS_OF_WRONG = (int(os.environ.get("LOAD_SEEDS", default)) for default in ("3", "1"))


def verify(bundle: Bundle, mode: str, seed: int, out: Path) -> dict[str, Any]:
    """One run, and its exit code beside its evidence."""
    ran = runner(*bundle.words(mode), "--seed", seed, "--out", out)
    return {**ran.json, "code": ran.code}


def statuses(result: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in result["assertions"]}


def kept(place: Path) -> bytes:
    return b"".join(path.read_bytes() for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize(("bundle", "mode"), WRONG, ids=[f"{bundle.name}-{mode}" for bundle, mode in WRONG])
def test_a_wrong_application_is_found_by_the_right_assertion(bundle: Bundle, mode: str, tmp_path: Path) -> None:
    labels = bundle.labels
    for seed in range(SEEDS_OF_WRONG):
        result = verify(bundle, mode, seed, tmp_path / str(seed))
        assert statuses(result) == labels["assertions"][mode], (seed, result["reasons"])
        assert (result["verdict"], result["code"]) == (labels["verdicts"][mode], labels["exit_codes"][mode]), seed
        assert (result["seed"], result["planned_journeys"]) == (seed, labels["planned_journeys"])
        for beginning in labels.get("reasons", {}).get(mode, ()):
            assert [reason for reason in result["reasons"] if reason.startswith(beginning)], result["reasons"]
        ran = set(statuses(result).values()) != {"unknown"}
        assert (result["lifecycle"] == "finished") is ran is bool((tmp_path / str(seed) / "console.log").read_bytes())
    everything = kept(tmp_path)
    assert not [value for value in bundle.secrets if value.encode() in everything]


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_the_right_application_passes_seed_after_seed(bundle: Bundle, tmp_path: Path) -> None:
    ran = runner(*bundle.words("right"), "--repeat", SEEDS_OF_RIGHT, "--out", tmp_path / "series")
    told = [json.loads((tmp_path / "series" / f"run-{index + 1}" / "result.json").read_text(encoding="utf-8"))
            for index in range(SEEDS_OF_RIGHT)]
    assert [(one["seed"], one["verdict"], one["reasons"]) for one in told] == [
        (seed, "pass", []) for seed in range(SEEDS_OF_RIGHT)]
    assert (ran.code, ran.json["verdict"], ran.json["consistent"]) == (0, "pass", True)
    for one in told:
        assert statuses(one) == bundle.labels["assertions"]["right"]
        assert (one["planned_journeys"], one["completeness"]) == (bundle.labels["planned_journeys"], "complete")
        assert one["metrics"]["iterations"] == one["planned_journeys"]
        assert one["metrics"]["unexpected_http_failure_rate"]["failed"] == 0
    everything = kept(tmp_path)
    assert not [value for value in bundle.secrets if value.encode() in everything]
