"""The keys of LOKI's ``incident.json`` (loki-chaos-agent 1.11.0): what is read of them, strictly typed and capped.

Keys that are not here are ignored, because newer versions may have more.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from runner.browser.faults import ApiFaultType, StateFaultType
from runner.browser.job import Engine

MAX_STEPS = 20_000
MAX_FAULTS = 2_000
MAX_LANES = 64
_MOST_ITEMS = 20_000

T = TypeVar("T")


class Part(BaseModel):
    """Base of every object of the file."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True, allow_inf_nan=False)


def _capped(most: int) -> BeforeValidator:
    # Checked before the items are: an error is made for each bad item, and there may be millions.
    def check(value: object) -> object:
        if isinstance(value, list) and len(value) > most:
            raise ValueError(f"has {len(value)} items, at most {most} are allowed")
        return tuple(value) if isinstance(value, list) else value
    return BeforeValidator(check)


Text = Annotated[str, StringConstraints(max_length=1 << 20)]
Short = Annotated[str, StringConstraints(max_length=4096)]
Url = Annotated[str, StringConstraints(max_length=16_384)]
Texts = Annotated[tuple[Text, ...], _capped(_MOST_ITEMS)]
Status = Annotated[int, Field(ge=100, le=999)]
Moment = Annotated[float, Field(ge=0, le=1e12)]


class ApiEvent(Part):
    """One fault in an answer. ``body`` is LOKI's mock for a replay: an object, or text that may be Python's."""

    url: Url
    method: Short = "GET"
    fault_type: ApiFaultType
    original_status: Status | None = None
    injected_status: Status | None = None
    details: Any = None
    timestamp: Moment | None = None
    status: Status | None = None
    body: Any = None


class StateEvent(Part):
    """One fault in a page's state."""

    storage_area: Short = ""
    key: Short = ""
    target: Short = ""
    fault_type: StateFaultType
    original_value: Text | None = None
    injected_value: Text | None = None
    details: Text = ""
    details_meta: dict[str, Any] = Field(default_factory=dict)
    timestamp: Moment | None = None


class LaneResponse(Part):
    """A response that counts in a race."""

    url: Url
    status: Status
    method: Short


class LaneRecord(Part):
    """One lane of a race."""

    lane: Annotated[int, Field(ge=0, le=10_000)]
    selector: Short | None = None
    crashes: Texts = ()
    responses: Annotated[tuple[LaneResponse, ...], _capped(5_000)] = ()
    final_text: Text | None = None


class LokiFile(Part):
    """The whole file."""

    run_id: Short = ""
    timestamp: Short = ""
    target_url: Url
    persona: Short | None = None
    browser: Engine = "chromium"
    seed: int | None = None
    device: Short | None = None
    orientation: Literal["portrait", "landscape"] = "portrait"
    duration_seconds: Annotated[float, Field(ge=0, le=1e7)] = 0.0
    crashes: Texts = ()
    console_errors: Texts = ()
    http_errors: Texts = ()
    failed_requests: Texts = ()
    unhandled_rejections: Texts = ()
    navigation_errors: Texts = ()
    resource_failures: Texts = ()
    unexpected_dialogs: Texts = ()
    layout_issues: Texts = ()
    actions_taken: Texts = ()
    replay_trace: Annotated[tuple[dict[str, Any], ...], _capped(MAX_STEPS)] = ()
    api_faults: Annotated[tuple[ApiEvent, ...], _capped(MAX_FAULTS)] = ()
    state_faults: Annotated[tuple[StateEvent, ...], _capped(MAX_FAULTS)] = ()
    concurrency: Annotated[int, Field(ge=1, le=MAX_LANES)] = 1
    concurrency_lanes: Annotated[tuple[LaneRecord, ...], _capped(MAX_LANES)] = ()
