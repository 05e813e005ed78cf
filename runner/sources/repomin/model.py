"""What a checked ReproMin report says. Frozen; only :mod:`runner.sources.repomin.report` makes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.case import BackendName, RequestedLimits
from runner.oracles.contract import Signature


@dataclass(frozen=True, slots=True)
class Counts:
    """Regular files and their bytes; symlinks and directories count nothing."""

    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Output:
    """The payload: counts, and the digests that were recorded."""

    counts: Counts
    tree_sha256: str | None
    tree_content_sha256: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """How the reduction was run. ``raw`` is the whole object, for what the validator leaves unchecked."""

    backend: BackendName
    jobs: int
    timeout_seconds: float | None
    budget_exhausted: bool | None
    environment_names: tuple[str, ...]
    environment_sha256: str | None
    limits: RequestedLimits
    raw: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class FailureSpec:
    """The contract as recorded by modern reports."""

    match: str | None
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class Holdout:
    """The certification that the report claims; its statistics are never recomputed."""

    status: str
    planned_runs: int
    completed_runs: int
    passes: int
    exact_rate_gate_passed: bool | None
    artifact_fingerprint: str | None


@dataclass(frozen=True, slots=True)
class RepominReport:
    """A report that keeps every rule. ``failure_spec`` is ``None`` for a legacy report."""

    repomin_version: str | None
    command: str
    failure_match: str | None
    baseline_exit_code: int
    final_exit_code: int
    source: Counts
    output: Output
    attempts: int
    accepted_mutations: int
    cache_hits: int
    execution: Execution
    failure_spec: FailureSpec | None
    signature: Signature | None
    holdout: Holdout
