"""An incident: one recorded session, whoever recorded it. Frozen values; nothing here reads or judges."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Chaos, Engine, Pace, Race, Ready
from runner.browser.outcome import BrowserFacts, Lane, Signal, State, StepRecord
from runner.browser.trace import Step
from runner.incidents.identity import Identity

Source = Literal["loki", "runner"]


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure of the application that the recording saw, ``count`` times in all.

    ``step`` and ``at_ms`` are those of the first time, ``None`` where the recorder did not keep them (LOKI never
    does). ``sample`` is the signal as the driver told it.
    """

    identity: Identity
    step: int | None = None
    at_ms: float | None = None
    count: int = 1
    sample: Signal | None = None


@dataclass(frozen=True, slots=True)
class NoiseCount:
    """How many signals a rule of :mod:`runner.oracles.noise` took for noise, with the first of them."""

    rule: str
    count: int
    first: str = ""


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, by the name it was asked for and its ID (``sha256:…``)."""

    name: str
    id: str


@dataclass(frozen=True, slots=True)
class TargetPart:
    """The application under test: shell text or an argv, the image it ran in, and when it counted as started."""

    command: str | tuple[str, ...]
    image: ImagePart
    ready: Ready = field(default_factory=Ready)
    reset: str | None = None


@dataclass(frozen=True, slots=True)
class OwnPart:
    """What our own recordings keep beyond LOKI's keys.

    ``payload`` is the payload's directory as it was given, ``exact`` and ``content`` its fingerprints. ``target``
    is ``None`` for an application that ran elsewhere. ``policies`` maps ``driver`` and ``target`` to the SHA-256 of
    the policy in force. ``steps`` says what became of each step of the trace and when, ``dropped`` how many signals
    of a kind were beyond the cap. ``files`` are names in the run directory. ``shrunk_from`` is the SHA-256 of the
    ``incident.json`` that this one was shrunk from.
    """

    tool: str = ""
    created: str = ""
    payload: str = ""
    exact: str = ""
    content: str = ""
    target: TargetPart | None = None
    driver_image: ImagePart | None = None
    policies: tuple[tuple[str, str], ...] = ()
    network: str = "none"
    chaos: Chaos | None = None
    state: State = "done"
    detail: str = ""
    browser: BrowserFacts = field(default_factory=BrowserFacts)
    versions: tuple[tuple[str, str], ...] = ()
    steps: tuple[StepRecord, ...] = ()
    noise: tuple[NoiseCount, ...] = ()
    uncontrolled: tuple[str, ...] = ()
    dropped: tuple[tuple[str, int], ...] = ()
    spread_ms: float | None = None
    files: tuple[str, ...] = ()
    shrunk_from: str = ""


@dataclass(frozen=True, slots=True)
class Incident:
    """Everything needed to play a session again and to say whether it fails the same way.

    ``path`` is the file it was read from and ``sha256`` the digest of its bytes; both empty while it is in the making.
    ``timestamp`` is as the recorder wrote it. ``persona`` is in LOKI's words (``RageClicker``), ``None`` for none.
    The k-th ``state_fault`` step of ``trace`` carries out the k-th of ``state_faults``, and there are as many.
    ``race`` is ``None`` unless lanes ran side by side; ``lanes`` is then what each of them had.
    ``notes`` are sentences on what the recording lacks and how that was filled.
    """

    source: Source
    target_url: str
    path: str = ""
    sha256: str = ""
    run_id: str = ""
    timestamp: str = ""
    persona: str | None = None
    browser: Engine = "chromium"
    seed: int | None = None
    device: str | None = None
    landscape: bool = False
    duration_seconds: float = 0.0
    pace: Pace = "recorded"
    trace: tuple[Step, ...] = ()
    api_faults: tuple[ApiFault, ...] = ()
    state_faults: tuple[StateFault, ...] = ()
    race: Race | None = None
    lanes: tuple[Lane, ...] = ()
    failures: tuple[Failure, ...] = ()
    actions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    own: OwnPart | None = None
