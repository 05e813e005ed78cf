"""What an earlier run of a scenario was, for a later one to say how it differs: that is drift, and no reason to refuse.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import ReportError, UsageError, printable
from runner.evidence.result import Drift
from runner.load.job import HELPER
from runner.scenarios.digest import scenario_sha256
from runner.scenarios.model import Scenario
from runner.sources.jsontext import parse_json
from runner.sources.reading import read_report

RUN_FILE, LOCK_FILE = "run.json", "scenario.lock.json"
_HINT = f"name a run directory of `runner verify` or of LiteTraffic, or its {RUN_FILE} or {LOCK_FILE}"


@dataclass(frozen=True, slots=True)
class RecordedLoad:
    """``engine`` is k6's own line, empty where k6 did not run. A lock file knows neither seed nor schedule, and
    ``run.json`` alone not what the digest would be without the runtime helper, which is another program's in
    LiteTraffic.
    """

    engine: str
    scenario_sha256: str | None = None
    without_helper: str | None = None
    seed: int | None = None
    schedule: tuple[tuple[int, int], ...] | None = None


def read_recorded(path: str | os.PathLike[str]) -> RecordedLoad:
    """Of a run directory, or of either file. Raises UsageError."""
    place = Path(os.path.expanduser(os.fspath(path)))
    shown = printable(str(place))
    try:
        if not place.is_dir():
            document = _document(place)
            return _of_lock(document) if "files" in document else _of_run(document, None)
        lock = _document(place / LOCK_FILE) if (place / LOCK_FILE).is_file() else None
        return _of_run(_document(place / RUN_FILE), lock)
    except ReportError as error:
        raise UsageError(f"--recorded {error.message}", hint=_HINT) from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(f"--recorded {shown}: says nothing of a run of a load scenario", hint=_HINT) from None


def drift_of(recorded: RecordedLoad, scenario: Scenario, engine: str) -> Iterator[Drift]:
    """How a run with ``engine`` differs from the recorded one."""
    then, now = recorded.scenario_sha256, scenario.sha256
    if recorded.without_helper is not None:
        then, now = recorded.without_helper, _without_helper(scenario.manifest, scenario.files)
    phases = tuple((phase.seconds, phase.rate) for phase in scenario.schedule)
    for what, before, after in (("k6", recorded.engine or None, engine), ("scenario", then, now),
                                ("seed", recorded.seed, scenario.seed), ("schedule", recorded.schedule, phases)):
        if before is not None and before != after:
            yield Drift(what=what, recorded=_said(before), used=_said(after))


def _document(path: Path) -> Any:
    return parse_json(read_report(path)).value


def _of_run(run: Any, lock: Any) -> RecordedLoad:
    phases = tuple((int(phase["seconds"]), int(phase["rate"])) for phase in run["resolved_schedule"])
    return RecordedLoad(str(run["engine"]), str(run["scenario_sha256"]),
                        None if lock is None else _of_lock(lock).without_helper, int(run["seed"]), phases)


def _of_lock(lock: Any) -> RecordedLoad:
    return RecordedLoad(str(lock["engine"]), without_helper=_without_helper(
        lock["manifest"], {str(name): str(digest) for name, digest in lock["files"].items()}))


def _without_helper(manifest: Mapping[str, Any], files: Mapping[str, str]) -> str:
    return scenario_sha256(manifest, {name: digest for name, digest in files.items() if name != HELPER})


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return f"{sum(seconds * rate for seconds, rate in value)} journeys in {len(value)} phases"
    return printable(str(value))[:300]
