"""Faults that a session put into an application's answers and into a page's state, in LOKI's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ApiFaultType = Literal["status_code", "corrupt_json", "schema_strip", "delay", "empty_response", "token_invalidation",
                       "token_corruption", "401_unauthorized", "403_forbidden", "cookie_eviction"]
StateFaultType = Literal["truncated_json", "invalid_literal", "schema_rot", "type_swap", "clock_drift",
                         "quota_exceeded", "poisoned_reload"]

FAULT_HEADER = "x-loki-fault"
"""In every answer that a chaos session made up; its value is the fault's type."""

REPRO_HEADER = "x-loki-repro"
REPRO_VALUE = "deterministic_mock"
"""In every answer that a replay made up."""


@dataclass(frozen=True, slots=True)
class ApiFault:
    """Which request got what.

    The request is the ``occurrence``-th (from 1) with this method and URL since the session began; with 0 it is the
    next such request that no other fault takes, once step ``from_step`` has begun. ``status`` and ``body`` are what
    was answered (``body`` in base64, byte for byte, ``None``: the application's own answer); ``delay_ms`` is waited
    first. ``step`` is the step during which it happened (-1 before the first), ``original_status`` the
    application's own, where it was asked.
    """

    fault_type: ApiFaultType
    method: str
    url: str
    occurrence: int = 0
    from_step: int = -1
    status: int | None = None
    content_type: str = "application/json"
    body: str | None = None
    delay_ms: int = 0
    step: int = -1
    original_status: int | None = None
    details: str = ""


@dataclass(frozen=True, slots=True)
class StateFault:
    """What was done to a page's state.

    ``storage_area`` is localStorage, sessionStorage, clock, Storage or lifecycle. ``injected_value`` is stored under
    ``key`` as it is; ``offset_ms`` shifts the page's clock.
    """

    fault_type: StateFaultType
    storage_area: str
    key: str = ""
    injected_value: str | None = None
    offset_ms: int = 0
    original_value: str | None = None
    details: str = ""
