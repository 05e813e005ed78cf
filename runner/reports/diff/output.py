"""Kept output of corresponding runs, compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from runner.evidence.check import Evidence
from runner.evidence.parts import StreamRecord
from runner.evidence.result import Sample
from runner.evidence.session_record import TargetRecord
from runner.reports.diff.hunks import find_hunks

MOST_SHOWN = 6
Name = Literal["stdout", "stderr", "target stdout", "target stderr"]
_STREAMS: tuple[Name, ...] = ("stdout", "stderr", "target stdout", "target stderr")
"""``target``: the application of a browser session."""


def diff_outputs(a: Evidence, b: Evidence) -> dict[str, Any]:
    """Streams that differ, in order of their runs. The same pair of outputs is shown once, and few are at all.

    ``runs`` has an entry for each pair that is shown; ``more`` counts those that differ besides, ``unpaired`` the runs
    that only one side has.
    """
    theirs = {sample.index: sample for sample in b.result.samples}
    pairs = [(sample, theirs[sample.index]) for sample in a.result.samples if sample.index in theirs]
    shown: list[dict[str, Any]] = []
    seen: set[tuple[str, str]] = set()
    more = 0
    for ours, other, stream in _differing(pairs):
        left, right = _record(ours, stream), _record(other, stream)
        assert left is not None  # both are there: they differ
        assert right is not None
        if (left.kept_sha256, right.kept_sha256) in seen or len(shown) == MOST_SHOWN:
            more += 1
            continue
        seen.add((left.kept_sha256, right.kept_sha256))
        found = find_hunks(_bytes(a, ours, stream), _bytes(b, other, stream))
        shown.append({"run": ours.index, "stream": stream, "a_bytes": left.bytes, "b_bytes": right.bytes,
                      "complete": found.complete and not (left.truncated or right.truncated),
                      "hunks": [{"a_line": hunk.a_line, "b_line": hunk.b_line, "lines": list(hunk.lines)}
                                for hunk in found.hunks]})
    unpaired = len(a.result.samples) + len(theirs) - 2 * len(pairs)
    return {"runs": shown, "more": more, "unpaired": unpaired}


def _differing(pairs: list[tuple[Sample, Sample]]) -> Iterator[tuple[Sample, Sample, Name]]:
    for ours, other in pairs:
        for stream in _STREAMS:
            left, right = _record(ours, stream), _record(other, stream)
            if left is not None and right is not None \
                    and (left.sha256, left.kept_sha256) != (right.sha256, right.kept_sha256):
                yield ours, other, stream


def _side(sample: Sample, stream: Name) -> Sample | TargetRecord | None:
    return sample.target if stream.startswith("target ") else sample


def _record(sample: Sample, stream: Name) -> StreamRecord | None:
    side = _side(sample, stream)
    if side is None:
        return None
    return side.stdout if stream.endswith("stdout") else side.stderr


def _bytes(evidence: Evidence, sample: Sample, stream: Name) -> bytes:
    which: Literal["stdout", "stderr"] = "stdout" if stream.endswith("stdout") else "stderr"
    if sample.target is not None and stream.startswith("target "):
        return evidence.target_output(sample.target, which)
    return evidence.output(sample, which)
