"""Choose the line of the output that says best what failed, and is there in every run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from runner.evidence.observation import Observation
from runner.oracles.signature.lines import lines_of
from runner.oracles.text import decoded
from runner.oracles.volatile import parts_of, pattern_for, skeleton

_LOOKED_AT = 400
"""Lines of a stream that are considered, from its end."""

_LONGEST = 400
_ESCAPE = re.compile(r"\x1b\[[0-?]*+[ -/]*+[@-~]|[\x00-\x08\x0e-\x1f\x7f]")
_FAILURE = re.compile(
    r"error|exception|fail|fatal|panic|abort|assert|denied|refused|invalid|cannot|can't|could not|unable"
    r"|undefined|unexpected|mismatch|corrupt|illegal|violation|overflow|not found|missing|killed|crash"
    r"|terminat",
    re.IGNORECASE)
_SUMMARY = re.compile(r"[=\s]*\d+ (?:failed|passed|errors?|skipped|tests?)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{3}")
_LEAST_PLAIN = 8


def telling_patterns(runs: Sequence[Observation]) -> Iterator[str]:
    """Patterns of lines that all runs share, best first: stderr before stdout, lines that speak of a failure
    before others, later lines before earlier ones. Volatile parts are generalised.
    """
    streams = [[last_lines(decoded(stream)) for stream in pair]
               for pair in ((run.stderr for run in runs), (run.stdout for run in runs))]
    for speaks in (True, False):
        for lines in streams:
            yield from _shared(lines, speaks)


def last_lines(text: str) -> list[str]:
    """The last lines of ``text``, last first, each without control sequences and too long ones left out."""
    tail = text[-_LOOKED_AT * _LONGEST:]
    lines = [max(_ESCAPE.split(line), key=len).strip() for line in lines_of(tail)]
    return [line for line in reversed(lines[-_LOOKED_AT:]) if 0 < len(line) <= _LONGEST]


def _shared(runs: Sequence[list[str]], speaks: bool) -> Iterator[str]:
    if not all(runs):
        return
    by_skeleton = [{skeleton(line): line for line in reversed(lines)} for lines in runs]
    for line in runs[0]:
        shape = skeleton(line)
        fitting = [lines[shape] for lines in by_skeleton if shape in lines]
        if len(fitting) == len(runs) and _is_specific(line) and bool(_FAILURE.search(line)) is speaks:
            yield pattern_for(fitting)


def _is_specific(line: str) -> bool:
    """Enough text that stays, with a word in it; not a mere count of failures."""
    if _SUMMARY.match(line):
        return False
    plain = "".join(part.text for part in parts_of(line) if not part.kind)
    return len(plain.strip()) >= _LEAST_PLAIN and _WORD.search(plain) is not None
