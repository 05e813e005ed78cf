"""What the load driver is asked to do: one file, ``job.json``, beside the scenario's own files in its volume."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from runner.browser.job import Ready

JOB_FILE = "job.json"
SCENARIO_FOLDER = "scenario"
"""Where the scenario's files are, beside the job."""
HELPER = "litetraffic/runtime.js"
"""Where scripts import the runtime helper from, below the scenario's folder. The path is LiteTraffic's."""


@dataclass(frozen=True, slots=True)
class Phase:
    """So many seconds at so many journeys a second."""

    name: str
    seconds: int
    rate: int


@dataclass(frozen=True, slots=True)
class OwnedHttp:
    """A fixture that the run makes by a POST and removes by a DELETE. ``delete_path`` has ``{fixture_id}`` in it,
    ``id_pointer`` is a JSON Pointer into the answer, ``token_env`` names the variable of a bearer token.
    """

    create_path: str
    delete_path: str
    id_pointer: str
    create_body: dict[str, Any] = field(default_factory=dict)
    token_env: str | None = None


@dataclass(frozen=True, slots=True)
class Hooks:
    """Commands before and after the load, as argv; no shell. The limits are in seconds."""

    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    setup_seconds: int
    teardown_seconds: int


@dataclass(frozen=True, slots=True)
class Observation:
    """A look at the application's final state: a GET, and what its JSON must hold.

    ``expected`` maps JSON Pointers to literals, matchers or ``${…}`` expressions, as in the manifest. ``headers_env``
    are pairs of a header and the variable with its value. With ``deadline_seconds`` it is asked every
    ``interval_seconds`` until it holds. ``origin`` is the target's when ``None``.
    """

    assertion: str
    path: str
    expected: dict[str, Any]
    token_env: str | None = None
    headers_env: tuple[tuple[str, str], ...] = ()
    origin: str | None = None
    origin_env: str | None = None
    deadline_seconds: float | None = None
    interval_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Caps:
    """How many bytes are kept of what k6 writes; the rest is counted and dropped while it is written."""

    console: int = 16 << 20
    metrics: int = 64 << 20
    output: int = 1 << 20


@dataclass(frozen=True, slots=True)
class LoadJob:
    """One run of a scenario.

    ``target`` is the application's base URL, without a slash at its end. ``hold``: the application is not started yet;
    wait for it without a limit of the driver's own until its port takes connections. ``script`` and ``pool`` are paths
    below the scenario's folder; ``helper``: the script imports the runtime helper. ``engine_seconds`` is how long k6
    may take. ``env_names`` are the variables of the driver's own environment that are the scenario's: given by a
    person, or minted tokens. ``listed``: the manifest has ``observations``, not the older single ``observation``.

    On a network ``pins`` are the only places that our own requests go to (host, port, address), and ``denied`` the
    networks that k6 is kept from; in the sandbox, where there is only loopback, both are empty.
    """

    run_id: str
    target: str
    seed: int
    script: str
    schedule: tuple[Phase, ...]
    planned_journeys: int
    max_in_flight: int
    engine_seconds: float
    helper: bool = True
    ready: Ready = field(default_factory=Ready)
    hold: bool = True
    owned: OwnedHttp | None = None
    hooks: Hooks | None = None
    pool: str | None = None
    observations: tuple[Observation, ...] = ()
    listed: bool = True
    allowed_origins: tuple[str, ...] = ()
    allowed_origins_env: str | None = None
    env_names: tuple[str, ...] = ()
    pins: tuple[tuple[str, int, str], ...] = ()
    denied: tuple[str, ...] = ()
    caps: Caps = field(default_factory=Caps)


def write_job(job: LoadJob) -> bytes:
    """The job as JSON, in a form that depends on nothing but the job."""
    return json.dumps(asdict(job), sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def read_job(raw: bytes) -> LoadJob:
    """A job that :func:`write_job` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    fields: dict[str, Any] = json.loads(raw)
    owned, hooks = fields["owned"], fields["hooks"]
    parts: dict[str, Any] = {
        "schedule": tuple(Phase(**phase) for phase in fields["schedule"]),
        "ready": Ready(**fields["ready"]), "caps": Caps(**fields["caps"]),
        "owned": OwnedHttp(**owned) if owned else None,
        "hooks": Hooks(**{**hooks, "setup": tuple(hooks["setup"]), "teardown": tuple(hooks["teardown"])})
        if hooks else None,
        "observations": tuple(_observation(item) for item in fields["observations"]),
        "allowed_origins": tuple(fields["allowed_origins"]), "env_names": tuple(fields["env_names"]),
        "denied": tuple(fields["denied"]), "pins": tuple((host, port, at) for host, port, at in fields["pins"]),
    }
    return LoadJob(**{**fields, **parts})


def _observation(fields: dict[str, Any]) -> Observation:
    return Observation(**{**fields, "headers_env": tuple((name, env) for name, env in fields["headers_env"])})
