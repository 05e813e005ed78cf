"""The runs as rows, and what they printed, changed and left behind: alike runs are told once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from runner.evidence.check import Evidence
from runner.evidence.parts import ChangeRecord, StreamRecord
from runner.evidence.result import ArtifactRecord, Result, Sample
from runner.evidence.session_record import TargetRecord
from runner.reports.html.excerpt import Excerpt, excerpt
from runner.reports.html.words import seconds, signal_name, size, which_runs

_UNKNOWN = "n/a"
_MOST_OUTPUTS = 100
_MOST_ROWS = 200
_PAGE_BUDGET = 1 << 20
_LEAST, _MOST = 1 << 10, 64 << 10
"""Bytes of output on the page in all, and of one stream: the fewer different outputs, the more of each."""

_OUTCOMES = {"passed": "matched", "failed": "did not match", "timed_out": "timed out",
             "resource_exhausted": "a limit was hit", "no_verdict": "no verdict"}
_LOAD_OUTCOMES = {**_OUTCOMES, "passed": "passed", "failed": "failed"}
"""A load run is not compared with a recording."""
_CAUSES = {"exited": "exited with", "signaled": "killed by a signal", "oom_killed": "killed for memory",
           "timed_out": "ended at the deadline", "output_limit": "ended: too much output",
           "disk_limit": "ended: disk full", "init_lost": "ended without a word from the init",
           "cancelled": "cancelled", "not_started": "did not start"}
_MISMATCHES = {"exit_code": "another exit code", "match": "the pattern is not in the output",
               "signature": "another failure signature"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the table. ``output`` is the number of its output on the page, 0 if it is not shown."""

    index: int
    accepted: bool
    outcome: str
    why: tuple[str, ...]
    ended: str
    wall: str
    cpu: str
    memory: str
    memory_part: int | None
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]
    output: int


@dataclass(frozen=True, slots=True)
class Output:
    """What alike runs printed. ``matched`` says where the pattern was found."""

    number: int
    runs: str
    accepted: bool
    outcome: str
    ended: str
    matched: str
    streams: tuple[Excerpt, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that alike runs share, at most 200 of its entries, and how many more there are."""

    runs: str
    entries: tuple[ChangeRecord | ArtifactRecord, ...]
    more: int
    note: str = ""


def alike(samples: tuple[Sample, ...], key: Callable[[Sample], Hashable]) -> list[tuple[Sample, ...]]:
    """Samples by equal key, in order of the first of each."""
    found: dict[Hashable, list[Sample]] = {}
    for sample in samples:
        found.setdefault(key(sample), []).append(sample)
    return [tuple(group) for group in found.values()]


def rows_of(result: Result, outputs: dict[int, int], memory_limit: int | None) -> tuple[Row, ...]:
    """One row a run. ``outputs`` gives the number of each run's output on the page."""
    return tuple(_row(sample, outputs.get(sample.index, 0), memory_limit, _outcome(result, sample))
                 for sample in result.samples)


def outputs_of(evidence: Evidence) -> tuple[tuple[Output, ...], dict[int, int]]:
    """Each different output once, and which run has which. Raises EvidenceAltered if a file has changed meanwhile."""
    groups = _chosen(alike(evidence.result.samples, _printed))
    limit = max(_LEAST, min(_MOST, _PAGE_BUDGET // (2 * max(1, len(groups)))))
    outputs = tuple(_output(evidence, number, group, limit) for number, group in enumerate(groups, 1))
    return outputs, {sample.index: number for number, group in enumerate(groups, 1) for sample in group}


def changes_of(samples: tuple[Sample, ...]) -> tuple[Listed, ...]:
    """Each different change list once. Beside a driver it is the application's copy that counts."""
    found = alike(samples, lambda sample: (_changer(sample).changes, _changer(sample).changes_note))
    return tuple(_listed(group, _changer(group[0]).changes, _changer(group[0]).changes_note)
                 for group in found[:_MOST_OUTPUTS])


def artifacts_of(samples: tuple[Sample, ...]) -> tuple[Listed, ...]:
    """Each different list of artifacts once; runs that left none are not listed."""
    with_some = tuple(sample for sample in samples if sample.artifacts)
    return tuple(_listed(group, group[0].artifacts)
                 for group in alike(with_some, lambda sample: sample.artifacts)[:_MOST_OUTPUTS])


def _changer(sample: Sample) -> Sample | TargetRecord:
    return sample.target or sample


def _listed(group: tuple[Sample, ...], entries: tuple[ChangeRecord, ...] | tuple[ArtifactRecord, ...],
            note: str = "") -> Listed:
    return Listed(runs=_runs(group), entries=entries[:_MOST_ROWS], more=max(0, len(entries) - _MOST_ROWS), note=note)


def _runs(group: tuple[Sample, ...]) -> str:
    return which_runs(tuple(sample.index for sample in group))


def _ending(sample: Sample) -> tuple[Hashable, ...]:
    return sample.outcome, sample.cause, sample.returncode, sample.signal, sample.mismatch_reason


def _printed(sample: Sample) -> Hashable:
    return (*_ending(sample), *((stream.sha256, stream.kept_sha256) for stream in (sample.stdout, sample.stderr)),
            sample.match)


def _chosen(groups: list[tuple[Sample, ...]]) -> list[tuple[Sample, ...]]:
    """The groups to show, in order: the first of each kind of ending before a second of any."""
    if len(groups) <= _MOST_OUTPUTS:
        return groups
    firsts = {kind[0].index for kind in alike(tuple(group[0] for group in groups), _ending)}
    chosen = sorted(groups, key=lambda group: group[0].index not in firsts)[:_MOST_OUTPUTS]
    return sorted(chosen, key=lambda group: group[0].index)


def _output(evidence: Evidence, number: int, group: tuple[Sample, ...], limit: int) -> Output:
    sample = group[0]
    streams = (excerpt("stdout", sample.stdout, evidence.output(sample, "stdout"), sample.match, limit),
               excerpt("stderr", sample.stderr, evidence.output(sample, "stderr"), sample.match, limit))
    matched = f"match in {sample.match.stream}" if sample.match is not None else ""
    return Output(number=number, runs=_runs(group), accepted=sample.accepted, outcome=_outcome(evidence.result, sample),
                  ended=_ended(sample), matched=matched, streams=streams)


def _row(sample: Sample, output: int, memory_limit: int | None, outcome: str) -> Row:
    peak = sample.peak_memory
    part = None if peak is None or not memory_limit else max(0, min(100, round(100 * peak / memory_limit)))
    return Row(index=sample.index, accepted=sample.accepted, outcome=outcome, why=_why(sample),
               ended=_ended(sample), wall=seconds(sample.wall_seconds),
               cpu=_UNKNOWN if sample.cpu_seconds is None else seconds(sample.cpu_seconds),
               memory=_UNKNOWN if peak is None else size(peak), memory_part=part,
               stdout=_stream(sample.stdout), stderr=_stream(sample.stderr), output=output)


def _outcome(result: Result, sample: Sample) -> str:
    words = _OUTCOMES if result.load is None else _LOAD_OUTCOMES
    return words.get(sample.outcome, sample.outcome)


def _why(sample: Sample) -> tuple[str, ...]:
    said = []
    if sample.mismatch_reason in _MISMATCHES:
        said.append(_MISMATCHES[sample.mismatch_reason])
    if sample.detail:
        said.append(sample.detail)
    return tuple(said)


def _ended(sample: Sample) -> str:
    said = [_CAUSES.get(sample.cause, sample.cause)]
    if sample.signal is not None:
        said.append(f"{signal_name(sample.signal)} ({sample.signal})")
    elif sample.returncode is not None and sample.cause == "exited":
        said.append(str(sample.returncode))
    if sample.signal_hint is not None:
        said.append(f"(a shell's word for {signal_name(sample.signal_hint)})")
    if sample.child_oom:
        said.append("(a child was killed for memory)")
    return " ".join(said)


def _stream(stream: StreamRecord) -> tuple[str, ...]:
    said = [size(stream.bytes)]
    if stream.truncated:
        said.append("truncated")
    if stream.masked:
        said.append(f"{size(stream.masked)} masked")
    return tuple(said)
