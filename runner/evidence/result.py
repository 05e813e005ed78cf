"""The evidence of one replay as it is written down: ``result.json``, schema ``runner.result/1``.

Field names that ReproMin's replay JSON has keep their meaning, except ``output_sha256``: here it is the digest
of stdout, then stderr, so that anyone can recompute it from kept data.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, Literal

from pydantic import ConfigDict, Field

from runner.evidence.events import canonical
from runner.evidence.load_record import LoadFields
from runner.evidence.parts import ChangeRecord, FingerprintRecord, Frozen, ImageRecord, PolicyRecord, StreamRecord
from runner.evidence.session_record import SessionRecord, SessionRun, TargetRecord

SCHEMA = "runner.result/1"


def _is_none(value: object) -> bool:
    """What only browser sessions have is absent from all other evidence."""
    return value is None


class ArtifactRecord(Frozen):
    """A declared file that was taken out of the volume: ``path`` there, ``file`` in the run directory.

    ``bytes`` and ``sha256`` are those of ``file``, in which ``masked`` bytes stand for credentials.
    """

    path: str
    file: str
    bytes: int
    sha256: str
    masked: int = 0


class MatchRecord(Frozen):
    """Where the contract's pattern was found: byte offsets in the stream's file."""

    stream: Literal["stdout", "stderr"]
    start: int
    end: int


class ContractRecord(Frozen):
    """What a run had to show, as a native report words it. ``exit_code`` null: any but 0, or by the signature."""

    exit_code: int | None
    match: str | None
    signature: dict[str, Any] | None


class EventsRecord(Frozen):
    """The event log that goes with the result: how many events, and the digest of the last one."""

    count: int
    head: str


class Sample(Frozen):
    """One run. ``returncode`` is 124 when timed out and 128+N for a signal."""

    index: int
    outcome: str
    accepted: bool
    mismatch_reason: str | None
    detail: str = ""
    match: MatchRecord | None = None
    cause: str
    returncode: int | None
    engine_exit_code: int | None = None
    signal: int | None = None
    signal_hint: int | None = None
    child_oom: bool = False
    timed_out: bool = False
    resource_exhausted: bool = False
    expected_exit_code: int | None = None
    actual_exit_code: int | None = None
    duration_seconds: float
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
    artifacts: tuple[ArtifactRecord, ...] = ()
    session: SessionRun | None = Field(default=None, exclude_if=_is_none)
    target: TargetRecord | None = Field(default=None, exclude_if=_is_none)


class Drift(Frozen):
    """A difference between how the report was recorded and how it was replayed."""

    what: str
    recorded: str | None
    used: str | None


class Result(LoadFields):
    """Everything that a verdict rests on."""

    schema_: str = Field(default=SCHEMA, alias="schema")
    schema_version: Literal[1] = 1
    tool: dict[str, str]
    run_id: str
    started: str
    finished: str
    ok: bool
    reproduced: bool
    verdict: str
    exit_code: int
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    valid_report: Literal[True] = True
    source: str
    report: str
    report_sha256: str
    report_schema_version: int | str
    bundle_sha256: str | None = None
    payload: str
    command: str
    holdout_status: str | None = None
    backend: str
    recorded_backend: str
    oracle_mode: str
    oracle_source: str
    contract: ContractRecord
    timeout_seconds: float
    timeout_source: Literal["override", "report", "default"]
    runs: int
    jobs: int
    started_ahead: int
    passes: int
    failures: int
    fresh_repository_copy_per_run: Literal[True] = True
    cache_used: Literal[False] = False
    ambient_environment_pinned: bool
    environment_names: tuple[str, ...] = ()
    fingerprint_mode: Literal["exact", "content", "unavailable", "changed"]
    fingerprint_verified: bool
    expected_fingerprint: str | None = None
    actual_fingerprint: str | None = None
    expected_content_fingerprint: str | None = None
    actual_content_fingerprint: str | None = None
    metadata_drift_possible: bool = False
    mode_drift: tuple[ChangeRecord, ...] = ()
    payload_fingerprint: FingerprintRecord
    payload_unchanged: bool
    docker_image: str | None = None
    docker_image_id: str | None = None
    docker_network: str | None = None
    recorded_docker_image_id: str | None = None
    recorded_docker_network: str | None = None
    image: ImageRecord | None = None
    policy: PolicyRecord
    engine: dict[str, Any]
    drift: tuple[Drift, ...] = ()
    samples: tuple[Sample, ...] = ()
    error: str | None = None
    cleanup: str = "complete"
    events: EventsRecord | None = None
    session: SessionRecord | None = Field(default=None, exclude_if=_is_none)

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)

    def to_json(self, indent: int | None = None) -> str:
        """Sorted keys, ASCII only, so hostile names cannot reach a terminal."""
        document = self.model_dump(mode="json", by_alias=True)
        return json.dumps(document, sort_keys=True, indent=indent, ensure_ascii=True)

    def told_json(self) -> str:
        """What ``replay --json`` prints, on one line: all but the contract, whose words quote output."""
        document = self.model_dump(mode="json", by_alias=True, exclude={"contract"})
        return json.dumps(document, sort_keys=True, ensure_ascii=True)

    def core_sha256(self) -> str:
        """Digest of the canonical JSON without ``events``: the last event names it, ``events`` names that."""
        document = self.model_dump(mode="json", by_alias=True, exclude={"events"})
        return sha256(canonical(document)).hexdigest()
