"""What ``runner record`` learned, before it is written in one format or another."""

from __future__ import annotations

from dataclasses import dataclass

from runner.case import RecordedEnvironment, RecordedExecution, RecordedModes
from runner.oracles.contract import Contract
from runner.workloads.command import CommandWorkload


@dataclass(frozen=True, slots=True)
class RecordedTree:
    """The payload: its directory's name, counts of regular files and of all entries, digests.

    ``exact`` and ``content`` are native (``manifest-sha256-v1``); ``tree_exact`` and ``tree_content`` are
    ReproMin's pair, needed only for its format; ``modes`` only native reports have.
    """

    name: str
    files: int
    bytes: int
    entries: int
    exact: str
    content: str
    tree_exact: str | None = None
    tree_content: str | None = None
    modes: RecordedModes | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """The runs that a contract was learned from. ``exit_code`` is what they all returned."""

    runs: int
    matched: int
    exit_code: int | None


@dataclass(frozen=True, slots=True)
class ReportDraft:
    """Everything a report says. ``created`` is RFC 3339 in UTC, ending in ``Z``."""

    created: str
    tool_version: str
    workload: CommandWorkload
    contract: Contract
    payload: RecordedTree
    environment: RecordedEnvironment
    execution: RecordedExecution
    baseline: Baseline
