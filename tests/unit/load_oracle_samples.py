"""Scenarios, outcomes, points and events as small as a test needs them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from runner.load.job import Observation, Phase
from runner.load.outcome import EngineRun, LoadOutcome
from runner.oracles.load.events import read_events
from runner.oracles.load.model import Events, Metrics
from runner.scenarios.model import Budgets, Journey, Maxima, Scenario

DATA = Path(__file__).parent.parent / "data" / "load"
RUN = "run_20261201T080000Z_00c0ffee"
BEGUN = datetime(2026, 12, 1, 8, tzinfo=UTC)

SCENARIO = Scenario(
    directory=Path("."), name="small", manifest={}, script="journeys.js", helper=True, actors=(),
    journeys=(Journey("book", 3, 1, {}, {"book": (200, 409)}),), assertions=("held", "seen"), observer="state",
    budgets=Budgets(60, 100, 20, 8, 1 << 20), seed=0, schedule=(Phase("calm", 1, 3), Phase("burst", 1, 5)),
    planned_journeys=8, maxima=Maxima(24, 8, 2, 0, 5, 9), engine_seconds=53.0, files={}, sha256="0" * 64,
    observations=(Observation("seen", "/state", {"/used": 8}),))

PASSED = LoadOutcome(
    "done", lifecycle="finished", engine=EngineRun("k6 v1.1.0", 0, seconds=2.5), elapsed_seconds=3.0,
    observations=({"assertion": "seen", "status": "pass", "expected": {"/used": 8}, "actual": {"/used": 8}},),
    observer_requests=1)

METRICS = Metrics({}, 100, iterations=8, requests=16, writes=8, vus_max=8)


def point(metric: str, value: float, at: float = 0.0, **tags: str) -> bytes:
    """One line of k6's; ``at`` is in seconds from BEGUN."""
    moment = (BEGUN + timedelta(seconds=at)).isoformat().replace("+00:00", "Z")
    data = {"time": moment, "value": value, "tags": tags or None}
    return json.dumps({"metric": metric, "type": "Point", "data": data}, separators=(",", ":")).encode() + b"\n"


def request(end: float, duration: float, operation: str | None = None, *, method: str = "GET", status: str = "200",
            failed: bool = False) -> list[bytes]:
    """The three lines of a request that count; ``end`` in seconds, ``duration`` in milliseconds."""
    tags = {"method": method, "status": status, **({"operation": operation} if operation is not None else {})}
    return [point("http_reqs", 1, end, **tags), point("http_req_duration", duration, end, **tags),
            point("http_req_failed", int(failed), end, **tags)]


def event(**fields: Any) -> dict[str, Any]:
    """A passing sample of ``held``, but for these fields; ``...`` removes one."""
    whole = {"schema_version": 1, "type": "assertion", "run_id": RUN, "assertion": "held", "passed": True,
             "logical_key": "k0", **fields}
    return {name: value for name, value in whole.items() if value is not ...}


def stage(name: str, key: object) -> dict[str, Any]:
    """A stage of a journey."""
    return {"schema_version": 1, "type": "stage", "run_id": RUN, "stage": name, "logical_key": key}


def line(value: Any) -> bytes:
    """As a script logs it."""
    return b"LT_EVENT " + json.dumps(value).encode() + b"\n"


def logged(*values: dict[str, Any]) -> Events:
    """What is read of these."""
    return read_events(b"".join(map(line, values)), RUN)


def complete(*more: dict[str, Any]) -> Events:
    """A passing sample of ``held`` for each planned journey, and these."""
    return logged(*(event(logical_key=f"k{number}") for number in range(8)), *more)


def ended(code: int | None = 0, **changes: Any) -> LoadOutcome:
    """An outcome after k6 exited with this."""
    lifecycle = "finished" if code in (0, 99) else "crashed"
    engine = EngineRun("k6 v1.1.0", code, seconds=2.5)
    return replace(PASSED, **{"lifecycle": lifecycle, "engine": engine, **changes})
