"""The parts of ``runner.result/1`` that only load runs have. Names at the top level are those of LiteTraffic's
``result.json``.

What the driver and the scenario's script say is a claim; what was made of it, and cause and output of the run itself,
is ours.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from runner.evidence.parts import Frozen, ImageRecord, PolicyRecord
from runner.evidence.session_record import FileRecord


def _is_none(value: object) -> bool:
    """What only load runs have is absent from all other evidence."""
    return value is None


class AssertionRecord(Frozen):
    """A declared assertion: ``failures`` are its first failing samples."""

    id: str
    status: Literal["pass", "fail", "unknown"]
    samples: int
    failures: tuple[dict[str, Any], ...] = ()
    expected: Any = None
    actual: Any = None
    reason: str = ""


class PhaseRecord(Frozen):
    """So many seconds at so many journeys a second."""

    name: str
    seconds: int
    rate: int


class LoadRecord(Frozen):
    """What a load run was about, beside LiteTraffic's fields.

    ``scenario_sha256`` is LiteTraffic's digest, ``scenario_fingerprint`` that of every file that k6 could read.
    ``undeclared`` counts evidence by a name that the manifest does not know. ``files`` are the named files of the run
    directory besides the streams. ``series`` names the runs of one ``--repeat``.
    """

    scenario: str
    directory: str
    scenario_sha256: str
    scenario_fingerprint: str
    target: str
    target_command: str | None
    ready: str
    engine: str
    schedule: tuple[PhaseRecord, ...]
    budgets: dict[str, int]
    maxima: dict[str, int]
    driver_image: ImageRecord
    driver_policy: PolicyRecord
    undeclared: dict[str, int] = Field(default_factory=dict)
    fixture_failures: tuple[str, ...] = ()
    cleaned: bool | None = None
    series: str | None = None
    files: tuple[FileRecord, ...] = ()


class LoadFields(Frozen):
    """LiteTraffic's fields, in the evidence of load runs only."""

    mode: Literal["verify"] | None = Field(default=None, exclude_if=_is_none)
    seed: int | None = Field(default=None, exclude_if=_is_none)
    planned_journeys: int | None = Field(default=None, exclude_if=_is_none)
    planned_journeys_per_second: float | None = Field(default=None, exclude_if=_is_none)
    lifecycle: Literal["finished", "timed_out", "cancelled", "crashed"] | None = Field(default=None,
                                                                                       exclude_if=_is_none)
    engine_exit_code: int | None = Field(default=None, exclude_if=_is_none)
    finished_at: str | None = Field(default=None, exclude_if=_is_none)
    completeness: Literal["complete", "incomplete"] | None = Field(default=None, exclude_if=_is_none)
    assertions: tuple[AssertionRecord, ...] | None = Field(default=None, exclude_if=_is_none)
    metrics: dict[str, Any] | None = Field(default=None, exclude_if=_is_none)
    limitations: tuple[str, ...] | None = Field(default=None, exclude_if=_is_none)
    notes: tuple[str, ...] | None = Field(default=None, exclude_if=_is_none)
    journeys: dict[str, Any] | None = Field(default=None, exclude_if=_is_none)
    load: LoadRecord | None = Field(default=None, exclude_if=_is_none)
