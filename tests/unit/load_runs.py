"""A run of the load driver on this machine: a folder with a scenario, and a program in k6's place."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runner.load.job import LoadJob, Phase
from runner.load.outcome import LoadOutcome
from runner.load_driver.lifecycle import live
from runner.load_driver.place import Place
from runner.load_driver.stopping import Stop

RUN_ID = "run_20260101T000000Z_0badcafe"


def job_for(target: str, **fields: Any) -> LoadJob:
    """Two journeys."""
    plain: dict[str, Any] = {
        "run_id": RUN_ID, "target": target, "seed": 7, "script": "journeys.js", "schedule": (Phase("all", 1, 2),),
        "planned_journeys": 2, "max_in_flight": 3, "engine_seconds": 20.0, "helper": False}
    return LoadJob(**{**plain, **fields})


def place_in(folder: Path, k6: str = "import sys; sys.exit(0)", env: Mapping[str, str] | None = None) -> Place:
    """``k6`` is a program of Python; its arguments are k6's."""
    for name in ("scenario", "out"):
        (folder / name).mkdir(exist_ok=True)
    program = folder / "k6"
    program.write_text(f"#!{sys.executable}\n{k6}\n", encoding="utf-8")
    program.chmod(0o755)
    helper = folder / "runtime.js"
    helper.write_text("// the helper\n", encoding="utf-8")
    return Place(folder, folder / "out", {"PATH": os.environ["PATH"], **(env or {})}, helper, str(program))


def lived(job: LoadJob, place: Place, stop: Stop | None = None) -> LoadOutcome:
    """Its outcome, which can be written and read again."""
    outcome = live(job, place, stop or Stop())
    assert outcome.engine is not None
    return outcome


WRITES_ENVIRONMENT = "import json, os; open('../env.json', 'w').write(json.dumps(dict(os.environ)))"
"""A program in k6's place that leaves its environment."""


def environment_left(place: Place) -> dict[str, str]:
    """What :data:`WRITES_ENVIRONMENT` left."""
    found: dict[str, str] = json.loads((place.folder / "env.json").read_bytes())
    return found
