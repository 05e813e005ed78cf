"""What the load driver says of a run: ``out/outcome.json``, files beside it, and lines on its stdout while it works.

Hooks and scripts of the scenario run in the driver's container and can attack it, so to the controller all of this is
a claim: parsed strictly, capped, and never more than what one run said.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

OUTPUT_FOLDER = "out"
OUTCOME_FILE = "outcome.json"
CONSOLE_FILE = "console.log"
METRICS_FILE = "metrics.jsonl"
ENGINE_STDOUT, ENGINE_STDERR = "engine.stdout.log", "engine.stderr.log"

LAUNCHED_LINE = b"launched\n"
"""The first line on stdout: the driver runs, and from now on only the application is waited for."""
READY_LINE = b"ready\n"
"""The second line, written once the application answers. Nothing of the scenario runs before it."""

State = Literal["done", "not_ready", "refused", "crashed"]
"""``done``: the lifecycle came to its end, however it went. ``not_ready``: the application never answered, and nothing
was run. ``refused``: the job cannot be carried out. ``crashed``: the driver gave up in the middle."""

Lifecycle = Literal["finished", "timed_out", "cancelled", "crashed"]
"""How the load ended, in LiteTraffic's words: k6 exited with 0 or 99 · had to be stopped at its deadline · was
interrupted · anything else, a fixture that could not be made included."""


@dataclass(frozen=True, slots=True)
class EngineRun:
    """k6 as it ran. ``version`` is the line that it tells of itself. ``exit_code`` is ``None`` after a signal, and then
    ``signal`` is set. Times are ISO 8601 in UTC; ``seconds`` is by the monotonic clock. ``survivors``: processes of its
    group were still there after the last kill.
    """

    version: str = ""
    exit_code: int | None = None
    signal: int | None = None
    started_at: str = ""
    finished_at: str = ""
    seconds: float = 0.0
    timed_out: bool = False
    survivors: bool = False


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """Everything about one run.

    ``fixture`` is the document of ``fixture.json`` and ``observations`` those of ``observation.json``, in LiteTraffic's
    shape. ``fixture_failures`` are sentences: one for each fixture or hook that failed, cleanup included; ``cleaned``
    says whether everything that was made is gone, ``None`` if nothing was made. ``dropped`` counts bytes beyond a cap,
    by file.
    """

    state: State
    detail: str = ""
    lifecycle: Lifecycle = "crashed"
    engine: EngineRun | None = None
    fixture: dict[str, Any] | None = None
    fixture_failures: tuple[str, ...] = ()
    fixture_requests: int = 0
    fixture_writes: int = 0
    cleaned: bool | None = None
    observations: tuple[dict[str, Any], ...] = ()
    observer_requests: int = 0
    dropped: tuple[tuple[str, int], ...] = ()
    elapsed_seconds: float = 0.0
    files: tuple[str, ...] = field(default=())


def write_outcome(outcome: LoadOutcome) -> bytes:
    """The outcome as JSON in ASCII."""
    document: dict[str, Any] = asdict(outcome)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
