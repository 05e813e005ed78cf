"""Where in the payload a recorded signature points: its frames, with the file and, if the output tells it, the line.

Signatures hold no lines on purpose. A line is looked up in the output of an accepted run, so it is that run's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.evidence.check import Evidence, StreamName
from runner.oracles.signature.lines import without_colour
from runner.payload.tree import Kind

_STREAMS: tuple[StreamName, ...] = ("stdout", "stderr")
_LOOKED_AT = 4 << 20
_MAX_FRAMES = 64
"""Bytes at the end of a stream; frames of a signature, of which ours have three."""

_LINE = r"(?P<line>[0-9]{1,9})"
_PYTHON_LINE = re.compile(rf"File [\"'](?P<path>[^\"'\n]{{1,4096}})[\"'], line {_LINE}, in (?P<function>[^\n]++)")
_PYTEST_LINE = re.compile(rf"^(?P<path>[^\s:][^:\n]{{0,4096}}):{_LINE}: in (?P<function>[^\n]++)", re.MULTILINE)
_JAVA_LINE = re.compile(rf"\bat (?P<function>[^\s()]{{1,4096}})\((?P<path>[^\s:()]{{1,4096}}):{_LINE}\)")

Lines = Mapping[tuple[str, str], int]
"""Line numbers by path and function as a traceback writes them, the last one first."""


@dataclass(frozen=True, slots=True)
class Place:
    """One frame. ``name`` is the signature's own text, ``function`` its last part. ``file`` is the path below the
    payload's root, ``None`` if the payload has no such file; ``line`` counts from 1.
    """

    name: str
    function: str
    file: str | None
    line: int | None


def places(evidence: Evidence) -> tuple[Place, ...]:
    """The frames of the contract's signature, innermost first; a process signature has none. Raises EvidenceAltered."""
    signature = evidence.result.contract.signature or {}
    told = signature.get("frames")
    frames = [frame for frame in told[:_MAX_FRAMES] if isinstance(frame, str)] if isinstance(told, list) else []
    if not frames:
        return ()
    files = [entry.path.decode("utf-8", "surrogateescape") for entry in evidence.manifest().entries
             if entry.kind is Kind.FILE]
    java = signature.get("kind") == "java"
    lines = _lines(evidence, java=java)
    return tuple((_java if java else _python)(frame, files, lines) for frame in frames)


def _python(frame: str, files: list[str], lines: Lines) -> Place:
    location, _, function = frame.rpartition(":")
    line = next((line for (path, name), line in lines.items()
                 if name == function and (path == location or path.endswith(f"/{location}"))), None)
    return Place(frame, function, location if location in files else None, line or None)


def _java(frame: str, files: list[str], lines: Lines) -> Place:
    """The file of ``shop.Cart$Item.add`` is ``shop/Cart.java`` below any source root."""
    owner, _, function = frame.rpartition(".")
    source = owner.partition("$")[0].replace(".", "/") + ".java"
    found = [file for file in files if file == source or file.endswith(f"/{source}")]
    line = lines.get((source.rpartition("/")[2], frame))
    return Place(frame, function, found[0] if len(found) == 1 else None, line or None)


def _lines(evidence: Evidence, *, java: bool) -> Lines:
    """By what the first accepted run printed."""
    sample = next((sample for sample in evidence.result.samples if sample.accepted), None)
    if sample is None:
        return {}
    raw = b"\n".join(evidence.output(sample, name)[-_LOOKED_AT:] for name in _STREAMS)
    lines: dict[tuple[str, str], int] = {}
    for place, line in reversed(list(_read(without_colour(raw.decode("utf-8", "replace")), java=java))):
        lines.setdefault(place, line)
    return lines


def _read(text: str, *, java: bool) -> Iterator[tuple[tuple[str, str], int]]:
    for pattern in (_JAVA_LINE,) if java else (_PYTHON_LINE, _PYTEST_LINE):
        for found in pattern.finditer(text):
            function = found["function"].rpartition("/")[2] if java else found["function"].rstrip()
            yield (found["path"].replace("\\", "/"), function), int(found["line"])
