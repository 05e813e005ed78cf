"""What is found in what a load run left, as frozen values. Names of fields in documents are LiteTraffic's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

LoadVerdict = Literal["pass", "fail", "inconclusive", "error"]
Status = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Event:
    """One valid LT_EVENT line. ``document`` is the whole event, its ``sequence`` included."""

    sequence: int
    type: Literal["assertion", "stage"]
    name: str
    """The assertion's ID, or the stage."""
    logical_key: str | None
    passed: bool | None
    document: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Events:
    """All events of a run. ``malformed`` counts lines that break a rule, ``foreign`` among them those of other runs."""

    events: tuple[Event, ...] = ()
    malformed: int = 0
    foreign: int = 0
    first_fault: str = ""
    """What was wrong with the first malformed line."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """k6's points, aggregated in one pass with flat memory. ``document`` is result.json's ``metrics``.

    ``points`` counts what was read, ``malformed`` lines that were no point. ``overlap`` is the peak of open requests by
    operation, ``in_flight_peak`` that of open journeys; ``vus_max`` is what k6 says once a second. ``unreachable``:
    requests were made, and none of them got any HTTP answer.
    """

    document: dict[str, Any]
    points: int = 0
    malformed: int = 0
    iterations: int = 0
    requests: int = 0
    writes: int = 0
    dropped_iterations: int = 0
    vus_max: int = 0
    in_flight_peak: int = 0
    overlap: dict[str, int] = field(default_factory=dict)
    unreachable: bool = False
    timeline: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AssertionRow:
    """One declared assertion. ``failures`` are the first three failing samples."""

    id: str
    status: Status
    samples: int = 0
    failures: tuple[dict[str, Any], ...] = ()
    expected: Any = None
    actual: Any = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LoadJudgement:
    """The verdict of one run and what it rests on.

    ``reasons`` are sentences, the decisive ones first; a proven failure and an error elsewhere are both there.
    ``limitations`` each make the evidence incomplete. ``undeclared`` counts samples by assertion ID or stage that the
    manifest does not know. ``journeys`` is the stage funnel, by journey, ``None`` where no stages are declared.
    """

    verdict: LoadVerdict
    complete: bool
    reasons: tuple[str, ...] = ()
    assertions: tuple[AssertionRow, ...] = ()
    limitations: tuple[str, ...] = ()
    journeys: dict[str, Any] | None = None
    undeclared: dict[str, int] = field(default_factory=dict)
