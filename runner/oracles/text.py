"""The text of a run that patterns and tracebacks are looked for in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner.evidence.observation import Observation, Stream
from runner.oracles.match import Span
from runner.oracles.signature.surefire import collect_surefire

_REPLACED = "\N{REPLACEMENT CHARACTER}"


@dataclass(frozen=True, slots=True)
class Found:
    """Where a pattern was found: byte offsets in what is kept of a stream."""

    stream: Literal["stdout", "stderr"]
    start: int
    end: int


def decoded(stream: Stream) -> str:
    """What was kept of a stream, as UTF-8; bytes that are none become U+FFFD."""
    return stream.kept.decode("utf-8", "replace")


def output_text(observation: Observation) -> str:
    """stdout, a newline, stderr."""
    return f"{decoded(observation.stdout)}\n{decoded(observation.stderr)}"


def searched_text(observation: Observation, *, java: bool) -> str:
    """What a contract's pattern is searched in: the output and, for a Java signature, the test reports."""
    text = output_text(observation)
    reports = collect_surefire(observation.artifacts).text if java else ""
    return f"{text}\n{reports}" if reports else text


def place(span: Span, observation: Observation) -> Found | None:
    """Where ``span`` of the searched text lies in the output; ``None`` when it lies in a test report.

    What begins in stdout and goes on in stderr counts as stdout's, up to its end.
    """
    offset = 0
    for name, stream in (("stdout", observation.stdout), ("stderr", observation.stderr)):
        text = decoded(stream)
        start, end = span.start - offset, min(span.end - offset, len(text))
        if 0 <= start <= end:
            return Found("stdout" if name == "stdout" else "stderr",
                         _byte_offset(stream.kept, text, start), _byte_offset(stream.kept, text, end))
        offset += len(text) + 1
    return None


def _byte_offset(raw: bytes, text: str, chars: int) -> int:
    """Where character number ``chars`` of ``text``, the decoded ``raw``, begins.

    A replaced character stands for one to three bytes, so where there are any, the place is searched for: the
    longest prefix of ``raw`` that decodes to no more characters than that.
    """
    if _REPLACED not in text:
        return len(text[:chars].encode())
    low, high = 0, len(raw)
    while low < high:
        middle = (low + high + 1) // 2
        if len(raw[:middle].decode("utf-8", "replace")) <= chars:
            low = middle
        else:
            high = middle - 1
    return low
