"""What the driver says of a session: ``outcome.json`` in its output folder, and lines on its stdout while it works.

A page can attack the driver, so to the controller all of this is a claim: parsed strictly, capped, and never more
than what one run of a browser said. Times are milliseconds since the first navigation began.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from runner.browser.faults import ApiFault, StateFault
from runner.browser.trace import Step

OUTPUT_FOLDER = "out"
OUTCOME_FILE = "outcome.json"
LAUNCHED_LINE = b"launched\n"
"""The first line on stdout: the browser has started, and from now on only the application is waited for."""

READY_LINE = b"ready\n"
"""The second line, written once the application answers. Nothing of a page is on stdout before it."""

State = Literal["done", "not_ready", "unreachable", "diverged", "not_launched", "refused", "crashed"]
"""``done``: every step was taken. ``not_ready``: the application never answered. ``unreachable``: the first
navigation failed. ``diverged``: a step could not be taken. ``not_launched``: no such browser or device, or it did not
start. ``refused``: the job cannot be carried out. ``crashed``: the browser ended in the middle."""

SignalKind = Literal["pageerror", "unhandled_rejection", "console_error", "http_error", "failed_request",
                     "navigation_error", "resource_failure", "dialog", "ui_freeze", "layout"]
Own = Literal["", "injected", "navigation", "closing", "console_echo", "favicon"]
"""Why a signal is no failure of the application: a fault that we put in, a request that our own navigation or our
closing the page cut off, the console's echo of a response that is a signal of its own, a favicon nobody asked for."""
StepState = Literal["done", "missing", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Signal:
    """One sign of trouble. ``step`` is the index of the step that was under way or had ended last, -1 before the first;
    ``own`` says why it is noise, if it is. ``screenshot`` is a file in the output folder.
    """

    kind: SignalKind
    step: int
    at_ms: float
    message: str
    stack: str = ""
    method: str = ""
    url: str = ""
    status: int | None = None
    resource: str = ""
    page: str = ""
    lane: int | None = None
    own: Own = ""
    screenshot: str = ""


@dataclass(frozen=True, slots=True)
class StepRecord:
    """What became of one step of the trace."""

    index: int
    state: StepState
    started_ms: float
    ended_ms: float
    detail: str = ""
    screenshot: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    """A response that counts in a race. ``idempotency_key`` is the request's header; ``body_sha256`` the answer's."""

    method: str
    url: str
    status: int
    idempotency_key: str = ""
    body_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane of a race. ``clicked_ms`` is when the page itself saw the click, on the wall clock that all lanes share
    (milliseconds since the epoch); ``None``: it never did.
    """

    lane: int
    selector: str | None
    clicked_ms: float | None = None
    crashes: tuple[str, ...] = ()
    responses: tuple[Response, ...] = ()
    final_text: str | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class BrowserFacts:
    """The browser as it was. ``sandbox`` is Chromium's own, as chrome://sandbox tells it."""

    name: str = ""
    version: str = ""
    playwright: str = ""
    sandbox: Literal["on", "off", "unknown"] = "unknown"
    user_agent: str = ""
    viewport: str = ""
    device: str = ""
    locale: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything about one session. ``trace``, ``actions`` and the faults are what really happened: in a replay too.

    ``dropped`` counts signals beyond the cap, by kind. ``files`` are names in the output folder.
    """

    state: State
    detail: str = ""
    browser: BrowserFacts = field(default_factory=BrowserFacts)
    started: str = ""
    duration_ms: float = 0.0
    trace: tuple[Step, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    actions: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()
    api_faults: tuple[ApiFault, ...] = ()
    state_faults: tuple[StateFault, ...] = ()
    lanes: tuple[Lane, ...] = ()
    spread_ms: float | None = None
    uncontrolled: tuple[str, ...] = ()
    dropped: tuple[tuple[str, int], ...] = ()
    files: tuple[str, ...] = ()


def write_outcome(outcome: Outcome) -> bytes:
    """The outcome as JSON in ASCII."""
    document: dict[str, Any] = asdict(outcome)
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
