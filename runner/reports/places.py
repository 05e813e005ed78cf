"""Where in the payload a recorded signature points: its frames, with the file and, if the output tells it, the line.

Signatures hold no lines on purpose. A line is looked up in the output of an accepted run, so it is that run's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.evidence.check import Evidence
from runner.oracles.signature.lines import lines_of, without_colour
from runner.payload.tree import Kind

_PYTHON_LINE = re.compile(r"File [\"'](?P<path>.+)[\"'], line (?P<line>[0-9]{1,9}), in (?P<function>.+)")
_PYTEST_LINE = re.compile(r"(?P<path>[^:]++):(?P<line>[0-9]{1,9}): in (?P<function>.+)")
_JAVA_LINE = re.compile(r"at (?P<function>[^\s(]++)\((?P<path>[^\s:)]++):(?P<line>[0-9]{1,9})\)")

Lines = Mapping[tuple[str, str], int]
"""Line numbers by path and function as a traceback writes them; the last one counts."""


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
    frames = [frame for frame in told if isinstance(frame, str)] if isinstance(told, list) else []
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
    raw = evidence.output(sample, "stdout") + b"\n" + evidence.output(sample, "stderr")
    return dict(_read(raw.decode("utf-8", "replace"), java=java))


def _read(text: str, *, java: bool) -> Iterator[tuple[tuple[str, str], int]]:
    patterns = (_JAVA_LINE,) if java else (_PYTHON_LINE, _PYTEST_LINE)
    for raw in lines_of(text):
        line = without_colour(raw).strip()
        for pattern in patterns:
            found = pattern.fullmatch(line)
            if found:
                function = found["function"].rpartition("/")[2] if java else found["function"]
                yield (found["path"].replace("\\", "/"), function), int(found["line"])
