"""``runner inspect`` as a person or a script meets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result
from scenario_drafts import changed, written

from runner.cli.inspect import command
from runner.cli.main import cli

CASE = Path(__file__).parents[1] / "data" / "load" / "booking_owned"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


def test_the_plan_as_text() -> None:
    done = run(CASE)
    assert done.exit_code == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["plateau", "2", "3", "5", "15"] in rows
    assert ["requests", "63", "80"] in rows
    assert ["writes", "27", "40"] in rows
    assert ["seconds", "29", "45"] in rows
    assert ["secrets", "ADMIN_TOKEN"] in rows
    assert ["six-bookings", "(by", "observation)"] in rows
    assert "warnings" not in done.stdout


def test_the_plan_as_json() -> None:
    document = json.loads(run(CASE, "--json", "--seed", "3").stdout)
    assert document["ok"] is True
    assert (document["seed"], document["planned_journeys"], document["fixture"]) == (3, 25, "owned_http")
    assert document["resolved_schedule"][0] == {"name": "ramp-1", "seconds": 1, "rate": 3}
    assert document["maxima"]["requests"] == 63
    assert document["budgets"]["max_requests"] == 80
    assert document["secret_variables"] == ["ADMIN_TOKEN"]
    assert document["observed_assertions"] == ["six-bookings"]
    assert sorted(document["files"]) == ["journeys.js", "litetraffic/runtime.js"]
    assert document["scenario_sha256"] in run(CASE).stdout


def test_a_seed_moves_the_bursts_and_nothing_else(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", changed("schedule", {"unit": "journeys_per_second", "profile": {
        "kind": "random_bursts", "duration_seconds": 60, "quiet_rate": 1, "burst_rate": 10, "burst_seconds": 5,
        "bursts": 4}}) | {"budgets": {"max_seconds": 90, "max_requests": 1000, "max_write_attempts": 500,
                                      "max_in_flight": 8, "max_artifact_bytes": 9}})
    one, other = (json.loads(run(folder, "--json", "--seed", seed).stdout) for seed in (0, 7))
    assert one["resolved_schedule"] != other["resolved_schedule"]
    assert {key for key in one if one[key] != other[key]} == {"seed", "resolved_schedule"}


def test_hostile_names_and_long_lists_are_shown_safely_and_cut(tmp_path: Path) -> None:
    phase = {"name": "\x1b[2J" + "x" * 99, "seconds": "1", "rate": 1}
    document: dict[str, Any] = changed("schedule.phases", [phase] * 50)
    document |= {"name": "a\nb", "assertions": [f"\x1b{number}" for number in range(60)]}
    done = run(written(tmp_path / "s", document))
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert "scenario         a\\nb" in done.stdout
    assert "and 10 more; --json lists them all" in done.stdout
    assert "and 20 more; --json lists them all" in done.stdout
    assert 'schedule.phases.0.seconds: is "1", taken as 1; write it so' in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 120


def test_what_breaks_a_rule_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    folder = written(tmp_path / "s", changed("budgets.max_requests", 59))
    done = run(folder)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == (f"runner: {folder}/manifest.json: budgets.max_requests: is 59, and the scenario may need 60"
                           " (raise the budget, or make the schedule smaller)\n")
    assert json.loads(run(folder, "--json").stdout)["ok"] is False


def test_nothing_is_written_and_the_program_knows_the_command(tmp_path: Path) -> None:
    folder = written(tmp_path / "s")
    before = sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*"))
    assert CliRunner().invoke(cli, ["inspect", str(folder)]).exit_code == 0
    assert sorted((path, path.stat().st_mtime_ns) for path in tmp_path.rglob("*")) == before
