"""Run directories of load runs, ours and LiteTraffic's, as what a comparison needs of them."""

from __future__ import annotations

import math
import os
from array import array
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.errors import ReportError, UsageError, printable
from runner.evidence.check import open_evidence
from runner.evidence.result import SCHEMA
from runner.oracles.load.points import Malformed, read_point
from runner.sources.jsontext import parse_json
from runner.sources.reading import open_report

_MAX_DOCUMENT, _MAX_METRICS = 64 << 20, 1 << 30
_MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, slots=True)
class LoadRun:
    """One run. ``durations`` are k6's, in milliseconds, sorted; empty where the run kept no points."""

    run_id: str
    verdict: str
    scenario_sha256: str
    seed: Any
    engine: str
    schedule: Any
    assertions: dict[str, str]
    metrics: dict[str, Any]
    durations: array[float] = field(default_factory=lambda: array("d"))


def read_load_run(directory: str | os.PathLike[str]) -> LoadRun:
    """Read one. Ours is proved by its own digests first. Raises UsageError for what is no load run, EvidenceAltered."""
    place = Path(os.path.expanduser(os.fspath(directory)))
    shown = printable(str(place))
    if not place.is_dir():
        raise UsageError(f"{shown}: not a run directory", hint="`runner runs list` shows the runs that are there")
    try:
        run, result = _document(place / "run.json"), _document(place / "result.json")
        if result.get("schema") == SCHEMA:
            open_evidence(place)
        assertions = {str(row["id"]): str(row["status"]) for row in result["assertions"]}
        return LoadRun(str(result["run_id"]), str(result["verdict"]), str(run["scenario_sha256"]), run["seed"],
                       str(run["engine"]), run["resolved_schedule"], assertions, dict(result["metrics"]),
                       _durations(place / "metrics.jsonl"))
    except (ReportError, KeyError, TypeError, ValueError):
        raise UsageError(f"{shown}: is no run of a load scenario, or was not finished",
                         hint="name the directory of a run of `runner verify`, or of LiteTraffic's") from None


def _document(path: Path) -> dict[str, Any]:
    with open_report(path) as file:
        raw = file.read(_MAX_DOCUMENT + 1)
    value = parse_json(raw).value if len(raw) <= _MAX_DOCUMENT else None
    if not isinstance(value, dict):
        raise ReportError("is no document of a run")
    return value


def _durations(path: Path) -> array[float]:
    found = array("d")
    if not os.path.lexists(path):
        return found
    with open_report(path) as file:
        if os.fstat(file.fileno()).st_size > _MAX_METRICS:
            return found
        for line in file:
            if b'"metric":"http_req_duration"' in line[:64] and len(found) < _MAX_SAMPLES:
                with suppress(Malformed):
                    point = read_point(line)
                    if point is not None and math.isfinite(point.data.value):
                        found.append(point.data.value)
    return array("d", sorted(found))
