"""The parts of ``runner.result/1`` that only browser sessions have.

What a run's ``session`` says comes from the driver, which a page can attack: it is a claim, parsed strictly. What its
``target`` says, and cause and output of the run itself, are facts of the engine and of the init.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from runner.evidence.parts import ChangeRecord, FingerprintRecord, Frozen, ImageRecord, PolicyRecord, StreamRecord


class FileRecord(Frozen):
    """A file of the run directory, by its name there."""

    name: str
    bytes: int
    sha256: str


class TargetRecord(Frozen):
    """The application under test in one run. ``cause`` is ``stopped`` when the driver was done before it."""

    cause: str
    returncode: int | None
    signal: int | None = None
    child_oom: bool = False
    detail: str = ""
    wall_seconds: float
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    output_sha256: str
    stdout: StreamRecord
    stderr: StreamRecord
    workspace: str
    volume_before: FingerprintRecord | None = None
    volume_after: FingerprintRecord | None = None
    changes: tuple[ChangeRecord, ...] = ()
    changes_note: str = ""


class SeenFailure(Frozen):
    """A failure of the application that a run showed, ``count`` times; ``step`` and ``at_ms`` of the first."""

    id: str
    key: str
    known: bool
    count: int
    step: int | None
    at_ms: float | None
    screenshot: str | None = None


class StepTaken(Frozen):
    """What became of a step of the trace."""

    index: int
    kind: str
    text: str
    state: str
    started_ms: float
    ended_ms: float
    detail: str = ""
    screenshot: str | None = None


class NoiseRecord(Frozen):
    """Signals that a rule took for noise, with the first of them."""

    rule: str
    count: int
    first: str = ""


class LaneRecord(Frozen):
    """One lane of a race. ``clicked_ms`` after the first of all clicks."""

    lane: int
    selector: str | None
    clicked_ms: float | None
    responses: tuple[str, ...]
    crashes: tuple[str, ...] = ()
    final_text: str | None = None


class SessionRun(Frozen):
    """What the driver said of one run, and what was made of it. Times are milliseconds. Screenshots are named as the
    driver named them: among the run's artifacts, or among the session's files.
    """

    state: str
    detail: str = ""
    duration_ms: float
    steps: tuple[StepTaken, ...] = ()
    failures: tuple[SeenFailure, ...] = ()
    missing: tuple[str, ...] = ()
    noise: tuple[NoiseRecord, ...] = ()
    lanes: tuple[LaneRecord, ...] = ()
    spread_ms: float | None = None
    uncontrolled: tuple[str, ...] = ()
    unfired: tuple[str, ...] = ()
    dropped: dict[str, int] = Field(default_factory=dict)


class FailureVerdict(Frozen):
    """A failure over all runs: ``seen`` in so many of ``runs``. ``new``: the report does not claim it.

    ``grave``: no application means it so. A verdict rests on the grave ones, or on all, where none is grave.
    """

    id: str
    key: str
    kind: str
    state: Literal["reproduced", "partly", "not_reproduced", "unknown", "recorded", "new"]
    seen: int
    runs: int
    step: int | None = None
    grave: bool = True


class BrowserRecord(Frozen):
    """The browser of the session. ``sandbox`` is Chromium's own."""

    name: str
    version: str
    playwright: str
    sandbox: Literal["on", "off", "unknown"]
    user_agent: str
    viewport: str
    device: str


class SessionRecord(Frozen):
    """What a browser session was about. ``files`` are the named files of the run directory besides the streams;
    ``options`` are the words of a command line that play it again as it was played, beside application and payload.
    """

    mode: Literal["play", "chaos", "race"]
    url: str
    persona: str | None
    seed: int | None
    pace: str
    steps: int
    target_command: str | None
    ready: str
    browser: BrowserRecord | None
    driver_image: ImageRecord
    driver_policy: PolicyRecord
    failures: tuple[FailureVerdict, ...] = ()
    api_faults: int = 0
    state_faults: int = 0
    lanes: int = 0
    rate: str = ""
    uncontrolled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    files: tuple[FileRecord, ...] = ()
