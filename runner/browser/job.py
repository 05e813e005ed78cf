"""What the driver is asked to do: one file, ``job.json``, in the volume that the driver starts in."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runner.browser.faults import ApiFault, StateFault
from runner.browser.trace import STEPS, Step

JOB_FILE = "job.json"

Mode = Literal["play", "chaos", "race"]
Engine = Literal["chromium", "firefox", "webkit"]
Persona = Literal["rage-clicker", "novice-chaotic", "network-tormentor", "adversary", "swarm", "none"]
Pace = Literal["recorded", "stepped"]


@dataclass(frozen=True, slots=True)
class Ready:
    """When the application counts as started: its port takes connections, and, with a ``path``, a GET of that path
    answers ``status`` (``None``: anything below 500). ``timeout`` is seconds from the application's start.
    """

    path: str | None = None
    status: int | None = None
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Outputs:
    """What the driver is to leave behind besides the outcome. ``screenshots``: one at each failing step."""

    video: bool = False
    har: bool = False
    trace: bool = False
    screenshots: bool = True
    dom: bool = False


@dataclass(frozen=True, slots=True)
class Chaos:
    """How a persona behaves. The session ends after ``steps`` steps, or, when ``None``, after ``duration_ms`` of the
    page's own clock, never of the wall's.
    """

    persona: Persona = "rage-clicker"
    steps: int | None = None
    duration_ms: int = 5000
    api_chaos: bool = False
    auth_chaos: bool = False
    state_chaos: bool = False
    fault_rate: float = 0.3


@dataclass(frozen=True, slots=True)
class Race:
    """``lanes`` pages click ``selector`` (``None``: each lane's first visible button) at the same moment. Each lane
    has a browser context of its own, or a whole browser.
    """

    lanes: int = 3
    selector: str | None = None
    own_browser: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One session. ``pace`` is ``recorded`` (delays by the wall clock, as LOKI records them) or ``stepped`` (the page's
    clock stands still but for what each step advances, and ``Math.random`` is seeded by ``seed``).

    ``device`` is one of the names of Playwright's catalogue; ``landscape`` turns it. ``sandbox`` is Chromium's own.
    ``reset`` is a path to POST to before the session, for an application that the driver did not start.
    ``hold``: the application is not started yet; launch the browser meanwhile and wait for it without a limit of
    the driver's own.
    """

    mode: Mode
    url: str
    pace: Pace = "recorded"
    browser: Engine = "chromium"
    seed: int = 0
    device: str | None = None
    landscape: bool = False
    sandbox: bool = True
    ready: Ready = field(default_factory=Ready)
    hold: bool = True
    reset: str | None = None
    trace: tuple[Step, ...] = ()
    api_faults: tuple[ApiFault, ...] = ()
    state_faults: tuple[StateFault, ...] = ()
    chaos: Chaos | None = None
    race: Race | None = None
    outputs: Outputs = field(default_factory=Outputs)


def write_job(job: Job) -> bytes:
    """The job as JSON, in a form that depends on nothing but the job."""
    return json.dumps(asdict(job), sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def read_job(raw: bytes) -> Job:
    """A job that :func:`write_job` wrote. Raises ValueError, KeyError or TypeError for anything else."""
    fields: dict[str, Any] = json.loads(raw)
    parts: dict[str, Any] = {
        "ready": Ready(**fields["ready"]), "outputs": Outputs(**fields["outputs"]),
        "chaos": Chaos(**fields["chaos"]) if fields["chaos"] else None,
        "race": Race(**fields["race"]) if fields["race"] else None,
        "trace": tuple(STEPS[step["kind"]](**step) for step in fields["trace"]),
        "api_faults": tuple(ApiFault(**fault) for fault in fields["api_faults"]),
        "state_faults": tuple(StateFault(**fault) for fault in fields["state_faults"]),
    }
    return Job(**{**fields, **parts})
