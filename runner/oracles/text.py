"""The text of a run that patterns and tracebacks are looked for in."""

from __future__ import annotations

from runner.evidence.observation import Observation, Stream
from runner.oracles.signature.surefire import collect_surefire


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
