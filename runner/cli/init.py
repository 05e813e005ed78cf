"""``runner init``: a load scenario from a small description."""

from __future__ import annotations

import json
from pathlib import Path

import click

from runner.cli.completing import files
from runner.cli.outcome import ending, tell
from runner.errors import printable

KINDS = ("tenant-isolation", "idempotent-write")


@click.command("init")
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--config", required=True, type=click.Path(), metavar="FILE", shell_complete=files,
              help="The description: docs/load-scenarios.md has its fields.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR",
              help="Write the scenario to this new directory.")
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(kind: str, config: str, out: Path, as_json: bool) -> None:
    """Make a load scenario from a description of the application, for `runner verify` to run.

    tenant-isolation: two identities, and whether each is kept from what the other owns. idempotent-write: a write that
    is sent several times at once, which must count once. The same description gives the same bytes.
    """
    from runner.scenarios.generate.write import write_scenario  # start-up time: pydantic is slow to load

    with ending(as_json=as_json):
        made = write_scenario(kind, config, out)
        scenario = made.scenario
        if as_json:
            tell(json.dumps({"ok": True, "kind": kind, "scenario": str(out), "name": scenario.name,
                             "scenario_sha256": scenario.sha256, "planned_journeys": scenario.planned_journeys,
                             "assertions": list(scenario.assertions), "environment": list(scenario.environment),
                             "warnings": list(made.warnings)}, sort_keys=True))
            return
        lines = [f"scenario     {out}", f"journeys     {scenario.planned_journeys} planned",
                 *(f"asserts      {name}" for name in scenario.assertions),
                 *(f"needs        {name}  (runner verify --env {name})" for name in scenario.environment),
                 *(f"warning      {text}" for text in made.warnings)]
        tell("\n".join(printable(line) for line in lines))
