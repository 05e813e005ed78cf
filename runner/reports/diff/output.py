"""Kept output of corresponding runs, compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from runner.evidence.check import Evidence
from runner.evidence.parts import StreamRecord
from runner.evidence.result import Sample
from runner.reports.diff.hunks import find_hunks

MOST_SHOWN = 6
_STREAMS: tuple[Literal["stdout", "stderr"], ...] = ("stdout", "stderr")


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
        if (left.kept_sha256, right.kept_sha256) in seen or len(shown) == MOST_SHOWN:
            more += 1
            continue
        seen.add((left.kept_sha256, right.kept_sha256))
        found = find_hunks(a.output(ours, stream), b.output(other, stream))
        shown.append({"run": ours.index, "stream": stream, "a_bytes": left.bytes, "b_bytes": right.bytes,
                      "complete": found.complete and not (left.truncated or right.truncated),
                      "hunks": [{"a_line": hunk.a_line, "b_line": hunk.b_line, "lines": list(hunk.lines)}
                                for hunk in found.hunks]})
    unpaired = len(a.result.samples) + len(theirs) - 2 * len(pairs)
    return {"runs": shown, "more": more, "unpaired": unpaired}


def _differing(pairs: list[tuple[Sample, Sample]]) -> Iterator[tuple[Sample, Sample, Literal["stdout", "stderr"]]]:
    for ours, other in pairs:
        for stream in _STREAMS:
            left, right = _record(ours, stream), _record(other, stream)
            if (left.sha256, left.kept_sha256) != (right.sha256, right.kept_sha256):
                yield ours, other, stream


def _record(sample: Sample, stream: Literal["stdout", "stderr"]) -> StreamRecord:
    return sample.stdout if stream == "stdout" else sample.stderr
