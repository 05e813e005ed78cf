"""``runner inspect``: what a load scenario would do, and whether it may; nothing of it is run."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from runner.cli.completing import directories
from runner.cli.outcome import ending, tell
from runner.errors import printable

if TYPE_CHECKING:
    from runner.scenarios.model import Scenario

_SHOWN = 40
_WIDEST = 40


@click.command("inspect")
@click.argument("scenario", metavar="SCENARIO", type=click.Path(), shell_complete=directories)
@click.option("--seed", type=int, default=0, show_default=True, help="Resolve the schedule for this seed.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(scenario: str, seed: int, as_json: bool) -> None:
    """Check a load scenario and show its plan, its digest, and the most it can take against its budgets.

    Nothing of it is run. Exit code: 0 it can be run, 2 it breaks a rule.
    """
    from runner.scenarios.load import load_scenario  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        loaded = load_scenario(scenario, seed)
        tell(json.dumps(_document(loaded), sort_keys=True) if as_json else _text(loaded))


def _document(scenario: Scenario) -> dict[str, Any]:
    budgets = scenario.budgets
    return {
        "ok": True, "name": scenario.name, "seed": scenario.seed, "scenario_sha256": scenario.sha256,
        "files": scenario.files, "script": scenario.script, "runtime_helper": scenario.helper,
        "planned_journeys": scenario.planned_journeys,
        "resolved_schedule": [asdict(phase) for phase in scenario.schedule],
        "maxima": asdict(scenario.maxima), "budgets": asdict(budgets), "engine_seconds": scenario.engine_seconds,
        "actors": [{"class": actor.name, "count": actor.count, "minted": actor.jwt is not None}
                   for actor in scenario.actors],
        "journeys": [asdict(journey) for journey in scenario.journeys],
        "assertions": list(scenario.assertions),
        "observed_assertions": [look.assertion for look in scenario.observations],
        "fixture": _fixture(scenario), "environment": list(scenario.environment),
        "secret_variables": list(scenario.secrets), "warnings": list(scenario.warnings),
    }


def _fixture(scenario: Scenario) -> str:
    kind = "owned_http" if scenario.owned is not None else "command" if scenario.hooks is not None else ""
    return " and ".join(word for word in (kind, "pool" if scenario.pool is not None else "") if word) or "none"


def _text(scenario: Scenario) -> str:
    seen = {look.assertion for look in scenario.observations}
    assertions = [f"{name}  (by observation)" if name in seen else name for name in scenario.assertions]
    lines = [
        f"scenario         {scenario.name}",
        f"scenario_sha256  {scenario.sha256}",
        f"covers           {', '.join(sorted(scenario.files))}",
        f"seed             {scenario.seed}",
        f"journeys         {scenario.planned_journeys} planned in {scenario.maxima.scheduled_seconds} s",
        f"fixture          {_fixture(scenario)}",
        f"variables        {', '.join(scenario.environment) or 'none'}",
        f"secrets          {', '.join(scenario.secrets) or 'none'}",
        "", *_schedule(scenario), "", *_budgets(scenario), "", "assertions", *_listed(assertions),
    ]
    if scenario.warnings:
        lines += ["", "warnings", *_listed(list(scenario.warnings))]
    return "\n".join(printable(line) for line in lines)


def _schedule(scenario: Scenario) -> list[str]:
    names = [_cut(phase.name) for phase in scenario.schedule[:_SHOWN]]
    width = max(len("phase"), *map(len, names))
    lines, begin = [f"{'phase':<{width}}  {'from s':>8}  {'seconds':>8}  {'per s':>8}  {'journeys':>9}"], 0
    for name, phase in zip(names, scenario.schedule, strict=False):
        lines.append(f"{name:<{width}}  {begin:>8}  {phase.seconds:>8}  {phase.rate:>8}"
                     f"  {phase.seconds * phase.rate:>9}")
        begin += phase.seconds
    more = len(scenario.schedule) - _SHOWN
    return [*lines, f"and {more} more; --json lists them all"] if more > 0 else lines


def _budgets(scenario: Scenario) -> list[str]:
    most, budgets = scenario.maxima, scenario.budgets
    rows = (("requests", most.requests, budgets.max_requests), ("writes", most.writes, budgets.max_write_attempts),
            ("seconds", most.seconds, budgets.max_seconds), ("in flight", None, budgets.max_in_flight),
            ("artifact bytes", None, budgets.max_artifact_bytes))
    return [f"{'budget':<15}  {'at most':>12}  {'allowed':>14}",
            *(f"{name:<15}  {'-' if taken is None else taken:>12}  {allowed:>14}" for name, taken, allowed in rows),
            (f"k6 may take {scenario.engine_seconds:g} s, fixtures {most.fixture_seconds} s,"
            f" observations {most.observation_seconds} s")]


def _listed(texts: list[str]) -> list[str]:
    more = len(texts) - _SHOWN
    return [*(f"  {text}" for text in texts[:_SHOWN]), *([f"  and {more} more; --json lists them all"] * (more > 0))]


def _cut(name: str) -> str:
    shown = printable(name)
    return shown if len(shown) <= _WIDEST else shown[:_WIDEST - 1] + "…"
