"""LiteTraffic's users switch over: labelled scenarios, unchanged, against servers that are right or wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data" / "load"
CASES = {name: json.loads((DATA / name / "expect.json").read_text(encoding="utf-8"))
         for name in ("coupon_phases", "booking_owned")}
FIGURES = {"http_failures": ("http_req_failed_rate", "failed"), "dropped": ("dropped_iterations",),
           "unexpected_failures": ("unexpected_http_failure_rate", "failed"), "requests": ("http_reqs",)}
"""Where a labelled figure is among the metrics."""
MODES = [(case, mode) for case, labels in CASES.items() for mode in labels["modes"]]


def verify(case: str, mode: str, out: Path) -> tuple[dict[str, Any], int]:
    """As a user would: the application's files, its command, and where it listens. ``python3`` is the image's."""
    labels = CASES[case]
    words = labels["dead_command"] if labels["modes"][mode] is None else [*labels["server_command"],
                                                                         *labels["modes"][mode]]
    port = labels["target"].rpartition(":")[2]
    env = [word for name, value in labels["env"].items() for word in ("--env", f"{name}={value}")]
    patience = ["--ready-timeout", "3"] if mode == "dead" else []
    done = subprocess.run(
        [sys.executable, "-m", "runner", "verify", str(DATA / case), "--payload", str(DATA / case), "--target-command",
         " ".join(f"'{word}'" for word in words), "--target-url", f"http://127.0.0.1:{port}", "--ready", "/healthz",
         "--seed", str(labels["seed"]), "--json", "--quiet", "--out", str(out), *env, *patience],
        stdout=subprocess.PIPE, text=True, check=False, env=dict(os.environ))
    return json.loads(done.stdout), done.returncode


def figure(metrics: Any, *path: str) -> Any:
    for name in path:
        metrics = metrics[name]
    return metrics


@pytest.mark.parametrize(("case", "mode"), MODES)
def test_each_mode_gets_its_labelled_verdict(case: str, mode: str, tmp_path: Path) -> None:
    labels = CASES[case]
    result, code = verify(case, mode, tmp_path / "run")
    assert (result["verdict"], code) == (labels["verdicts"][mode], labels["exit_codes"][mode])
    seen = {row["id"]: row["status"] for row in result["assertions"]}
    assert seen == labels["assertions"].get(mode, dict.fromkeys(seen, "unknown"))
    assert result["planned_journeys"] == labels["planned_journeys"]
    assert result["load"]["schedule"] == labels["resolved_schedule"]
    assert (result["completeness"] == "incomplete") is (mode in labels["incomplete"])
    for name, wanted in labels["metrics"].get(mode, {}).items():
        assert figure(result["metrics"], *FIGURES[name]) == wanted, name
    if mode in ("dead", "no-create"):
        assert (tmp_path / "run" / "console.log").read_bytes() == b"", "k6 must not run"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert not [value for value in labels["env"].values() if value.encode() in kept]


def test_funnel_and_files_of_a_right_run(tmp_path: Path) -> None:
    result, _ = verify("booking_owned", "right", tmp_path / "run")
    assert [stage["reached"] for stage in result["journeys"]["book a slot"]["stages"]] == [25, 25, 25]
    assert result["load"]["cleaned"] is True
    listed = json.loads((tmp_path / "run" / "artifacts.json").read_text(encoding="utf-8"))
    assert {file["path"] for file in listed["files"]} == {
        "console.log", "engine.stderr.log", "engine.stdout.log", "events/000001.jsonl", "fixture.json",
        "metrics.jsonl", "observation.json", "run.json", "scenario.lock.json", "timeline.json"}
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert (run["lifecycle"], run["engine_exit_code"], run["seed"]) == ("finished", 0, 0)
