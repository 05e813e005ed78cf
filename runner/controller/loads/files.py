"""The files of a load run's directory that LiteTraffic's have too, under the same names. Pure."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from runner.controller.loads.recorded import LOCK_FILE, RUN_FILE
from runner.controller.loads.request import SettledLoad
from runner.load.outcome import CONSOLE_FILE, ENGINE_STDERR, ENGINE_STDOUT, METRICS_FILE, LoadOutcome
from runner.oracles.load.events import events_jsonl
from runner.oracles.load.model import Events, Metrics

EVENTS_FILE = "events/000001.jsonl"
OBSERVATION_FILE, FIXTURE_FILE, TIMELINE_FILE = "observation.json", "fixture.json", "timeline.json"
_RAW = (CONSOLE_FILE, METRICS_FILE, ENGINE_STDOUT, ENGINE_STDERR)


@dataclass(frozen=True, slots=True)
class Moments:
    """ISO 8601, UTC."""

    started: str
    finished: str


def files_of(settled: SettledLoad, run_id: str, when: Moments, outcome: LoadOutcome, left: dict[str, bytes],
             events: Events, metrics: Metrics) -> dict[str, bytes]:
    """Each file by its name."""
    found = {name: left.get(name, b"") for name in _RAW}
    found |= {RUN_FILE: _json(_run(settled, run_id, when, outcome)), LOCK_FILE: _json(_lock(settled, outcome)),
              EVENTS_FILE: events_jsonl(events), TIMELINE_FILE: _json(metrics.timeline)}
    if outcome.fixture is not None:
        found[FIXTURE_FILE] = _json(outcome.fixture)
    if settled.scenario.observations and outcome.observations:
        looks: Any = list(outcome.observations) if settled.scenario.listed else outcome.observations[0]
        found[OBSERVATION_FILE] = _json(looks)
    return found


def _run(settled: SettledLoad, run_id: str, when: Moments, outcome: LoadOutcome) -> dict[str, Any]:
    scenario, engine = settled.scenario, outcome.engine
    return {
        "schema_version": 1, "run_id": run_id, "scenario": scenario.name, "mode": "verify", "target": settled.target,
        "seed": scenario.seed, "scenario_sha256": scenario.sha256, "engine": engine.version if engine else "",
        "lifecycle": outcome.lifecycle, "resolved_schedule": [asdict(phase) for phase in scenario.schedule],
        "started_at": when.started, "finished_at": when.finished,
        "engine_exit_code": engine.exit_code if engine else None,
        "engine_started_at": engine.started_at or None if engine else None,
        "engine_finished_at": engine.finished_at or None if engine else None}


def _lock(settled: SettledLoad, outcome: LoadOutcome) -> dict[str, Any]:
    scenario = settled.scenario
    return {"manifest": scenario.manifest, "engine": outcome.engine.version if outcome.engine else "",
            "files": scenario.files}


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()
