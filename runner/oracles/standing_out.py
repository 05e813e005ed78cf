"""Exceptions that several runs of one command have in common, apart from harmless differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.evidence.observation import Observation
from runner.oracles.contract import JavaSignature, PythonSignature
from runner.oracles.signature.learn import ExceptionBlock, SignatureKind, java_source
from runner.oracles.signature.python import PythonBlock, python_blocks, signature_of
from runner.oracles.signature.reading import Reading
from runner.oracles.text import output_text
from runner.oracles.volatile import pattern_for, skeleton
from runner.sandbox.exit import Cause

_LONGEST_HEADER = 400

Likeness = tuple[str, str, tuple[str, ...]]
"""Class, message and frames with their volatile parts generalised."""


def likeness(signature: PythonSignature | JavaSignature) -> Likeness:
    """Equal for signatures that differ only in addresses, times, numbers and temporary paths."""
    frames = tuple(skeleton(frame) for frame in signature.frames)
    return skeleton(signature.class_name), skeleton(signature.message), frames


def exceptions_of(kind: SignatureKind, run: Observation) -> list[ExceptionBlock]:
    """The exceptions a signature of ``kind`` could be made of, in the order of the output."""
    if kind == "process" or (kind == "auto" and run.status.cause is Cause.SIGNALED):
        return []
    python = python_blocks(output_text(run), Reading.NATIVE, run.root) if kind in ("auto", "python") else []
    if python or kind == "python":
        return list(python)
    return [block for block in java_source(run, Reading.NATIVE) if block.usable]


def shared_exceptions(kind: SignatureKind, runs: Sequence[Observation]) -> Iterator[list[ExceptionBlock]]:
    """Exceptions that every run shows, the last of the output first: of each one block a run."""
    found = [{_key(block): block for block in exceptions_of(kind, run)} for run in runs]
    for key in reversed(found[0] if found else {}):
        same = [blocks[key] for blocks in found if key in blocks]
        if len(same) == len(runs):
            yield same


def header_patterns(kind: SignatureKind, runs: Sequence[Observation]) -> Iterator[str]:
    """Patterns of the header lines of the exceptions that all runs share."""
    for blocks in shared_exceptions(kind, runs):
        headers = [block.header[:_LONGEST_HEADER] for block in blocks]
        if len({skeleton(header) for header in headers}) == 1:
            yield pattern_for(headers)


def signature_of_block(block: ExceptionBlock) -> PythonSignature | JavaSignature:
    """The signature of one exception, Python frames by the rooted rule."""
    return signature_of(block, rooted=True) if isinstance(block, PythonBlock) else block.signature()


def _key(block: ExceptionBlock) -> Likeness:
    return likeness(signature_of_block(block))
