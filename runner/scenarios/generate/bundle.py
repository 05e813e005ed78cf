"""A scenario that is not written yet: its manifest, with budgets that hold exactly what it can take, and its script."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.scenarios.budget import maxima_of
from runner.scenarios.generate.parts import FIXTURES, SCHEDULE, Description
from runner.scenarios.manifest import Manifest
from runner.scenarios.refusals import checked
from runner.scenarios.schedule import planned

SCRIPT = "journeys.js"
_COPIED = ("fixtures", "schedule", "observations", "allowed_origins", "allowed_origins_env")
_LEAST_ARTIFACTS, _PER_REQUEST, _MOST_ARTIFACTS = 16 << 20, 12 << 10, 64 << 20
_HEAD = "const kit = "


@dataclass(frozen=True, slots=True)
class Bundle:
    """``manifest.json`` and ``journeys.js``; ``warnings`` are what the scenario will not see."""

    manifest: dict[str, Any]
    script: str
    warnings: tuple[str, ...] = ()

    def files(self) -> dict[str, bytes]:
        """The files of the scenario's directory, the same bytes for the same description."""
        return {"manifest.json": (json.dumps(self.manifest, indent=2, ensure_ascii=False) + "\n").encode(),
                SCRIPT: self.script.encode()}


@dataclass(frozen=True, slots=True)
class Shape:
    """What a generator makes of a description: the parts of a manifest that depend on its kind."""

    actors: list[dict[str, Any]]
    journey: dict[str, Any]
    assertions: tuple[str, ...]
    observer: str
    secrets: tuple[str, ...]


def manifest_of(raw: dict[str, Any], described: Description, shape: Shape, source: str) -> dict[str, Any]:
    """The whole manifest. Raises InputError, with the name of the description, where it breaks a rule."""
    given = {name: raw[name] for name in _COPIED if name in raw}
    own = [look.assertion for look in described.observations]
    manifest = {
        "schema_version": 1, "name": described.name, "script": SCRIPT, "actors": shape.actors,
        "fixtures": given.pop("fixtures", FIXTURES), "observer": shape.observer, "journeys": [shape.journey],
        "assertions": [*shape.assertions, *own], "schedule": given.pop("schedule", SCHEDULE), **given,
        **({"secret_env": sorted(shape.secrets)} if shape.secrets else {}),
    }
    return {**manifest, "budgets": _budgets(manifest, described, source)}


def script_of(kit: dict[str, Any], template: str) -> str:
    """A generator's script, with what it is to work on in its place."""
    code = (Path(__file__).parent / template).read_text(encoding="utf-8")
    return code.replace(f"{_HEAD}null;", f"{_HEAD}{json.dumps(kit, indent=2)};")


def _budgets(manifest: dict[str, Any], described: Description, source: str) -> dict[str, int]:
    enough = dict.fromkeys(("max_seconds", "max_requests", "max_write_attempts", "max_artifact_bytes"), 10**9)
    whole = checked(Manifest, {**manifest, "budgets": {**enough, "max_in_flight": described.max_in_flight}}, source,
                    "a manifest")
    phases = whole.schedule.resolve(0)
    most = maxima_of(whole, sum(phase.seconds for phase in phases), planned(phases))
    artifacts = min(max(_LEAST_ARTIFACTS, most.requests * _PER_REQUEST), _MOST_ARTIFACTS)
    return {"max_seconds": most.seconds + described.drain_seconds, "max_requests": most.requests,
            "max_write_attempts": most.writes, "max_in_flight": described.max_in_flight,
            "max_artifact_bytes": artifacts}
