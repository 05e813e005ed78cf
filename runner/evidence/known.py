"""One replay as the store knows it: index, event log and run directory must all say the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.errors import EvidenceAltered, printable
from runner.evidence.check import Evidence, open_evidence
from runner.evidence.events import read_events
from runner.evidence.index import Index, Row, checked_directory, resolve

_MIRRORED = ("run_id", "verdict", "exit_code", "passes", "runs", "backend", "finished", "started", "command", "report",
             "report_sha256")
"""Fields that a row repeats from the result, for listings."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A replay with a result. ``lines`` is its event log."""

    evidence: Evidence
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A replay without a result: the events that were confirmed, and the runs among them as evidence has them."""

    row: Row
    lines: tuple[bytes, ...]
    judged: tuple[dict[str, Any], ...]


def load(index: Index | None, reference: str) -> Finished | Unfinished:
    """A replay by id, beginning of an id, ``latest`` or directory, checked as a whole.

    A directory that the index does not know is checked against itself. Raises UsageError, EvidenceAltered.
    """
    row = resolve(index, reference) if index is not None else None
    if row is None:
        evidence = open_evidence(Path(reference))
        return Finished(evidence, tuple(event.line() for event in evidence.events))
    assert index is not None
    if row.state == "finished":
        evidence = open_evidence(checked_directory(row))
        return Finished(evidence, _agreed(row, evidence, tuple(index.lines(row.run_id))))
    return _unfinished(row, tuple(index.lines(row.run_id)))


def _agreed(row: Row, evidence: Evidence, lines: tuple[bytes, ...]) -> tuple[bytes, ...]:
    if lines != tuple(event.line() for event in evidence.events):
        raise EvidenceAltered(f"{printable(row.run_id)}: index and run directory have different event logs",
                              hint="one of them was altered; replay the report again")
    for name in _MIRRORED:
        if name == "report_sha256" and row.report_sha256 == "":
            continue  # a recording is its own report, and ends with one: result_sha256 has it
        if getattr(row, name) != getattr(evidence.result, name):
            raise EvidenceAltered(f"{printable(row.run_id)}: {name} in the index is not that of the evidence",
                                  hint="the index was altered; the run directory is whole")
    return lines


def _unfinished(row: Row, lines: tuple[bytes, ...]) -> Unfinished:
    events = read_events(b"".join(line + b"\n" for line in lines), row.run_id)
    if not events:
        raise EvidenceAltered(f"{printable(row.run_id)}: the index has lost its events")
    judged = tuple(event.data for event in events if event.kind == "run.judged")
    if any(not {"index", "outcome", "cause"} <= run.keys() for run in judged):
        raise EvidenceAltered(f"{printable(row.run_id)}: a run in the event log is malformed")
    return Unfinished(row, lines, judged)
