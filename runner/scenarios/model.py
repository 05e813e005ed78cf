"""A scenario as frozen values: what its manifest says, checked, with its schedule resolved for one seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.load.job import Hooks, Observation, OwnedHttp, Phase


@dataclass(frozen=True, slots=True)
class JwtRecipe:
    """How tokens of an actor class are minted: HS256, keyed by the variable ``secret_env``. ``claims`` as in the
    manifest, templates unresolved. ``per_identity``: one token for each of the class's actors.
    """

    secret_env: str
    claims: dict[str, Any]
    ttl_seconds: int
    per_identity: bool = False


@dataclass(frozen=True, slots=True)
class Actor:
    """A class of actors. ``variable`` is the CLASS in LT_TOKEN_CLASS and LT_TOKENS_CLASS."""

    name: str
    count: int
    variable: str
    auth_recipe: str
    jwt: JwtRecipe | None = None


@dataclass(frozen=True, slots=True)
class Journey:
    """What one journey does at most, and what it is held to. ``stages`` is ``None`` where none are declared."""

    name: str
    max_requests: int
    max_writes: int
    min_overlap: dict[str, int] = field(default_factory=dict)
    expected_statuses: dict[str, tuple[int, ...]] = field(default_factory=dict)
    stages: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Budgets:
    """Upper bounds of one run."""

    max_seconds: int
    max_requests: int
    max_write_attempts: int
    max_in_flight: int
    max_artifact_bytes: int


@dataclass(frozen=True, slots=True)
class Maxima:
    """What a run can take at most, by the manifest: ``scheduled_seconds`` of load, ``seconds`` in all."""

    requests: int
    writes: int
    scheduled_seconds: int
    fixture_seconds: int
    observation_seconds: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario directory, read and checked.

    ``manifest`` is the raw document, ``files`` the SHA-256 of each file that LiteTraffic's digest covers, by name, and
    ``sha256`` that digest (``scenario_sha256``). ``environment`` are the names of all variables that the manifest
    speaks of and a person may have to give, ``secrets`` those among them whose values are scrubbed, both sorted.
    ``warnings`` are types that were taken more loosely than they should be, and the like, one sentence each.
    """

    directory: Path
    name: str
    manifest: dict[str, Any]
    script: str
    helper: bool
    actors: tuple[Actor, ...]
    journeys: tuple[Journey, ...]
    assertions: tuple[str, ...]
    observer: str
    budgets: Budgets
    seed: int
    schedule: tuple[Phase, ...]
    planned_journeys: int
    maxima: Maxima
    engine_seconds: float
    files: dict[str, str]
    sha256: str
    fixture_recipe: str = ""
    owned: OwnedHttp | None = None
    hooks: Hooks | None = None
    pool: str | None = None
    observations: tuple[Observation, ...] = ()
    listed: bool = True
    allowed_origins: tuple[str, ...] = ()
    allowed_origins_env: str | None = None
    environment: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
