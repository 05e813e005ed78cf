"""Failures that Maven's Surefire wrote down: ``surefire-reports/TEST-*.xml`` in the work tree after a run.

The files are the workload's, so they are claims, and hostile ones: a document type declaration (the door to
entity bombs and external files) makes a file void, as does anything that is not well-formed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.parsers import expat

from runner.errors import printable
from runner.evidence.observation import Artifact

SUREFIRE_GLOB = "**/surefire-reports/TEST-*.xml"
"""What a workload must declare as artifacts so that a Java signature sees these files."""

MAX_FILES = 200
MAX_BYTES = 4 * 1024 * 1024
"""Cap of one file and of all together."""


@dataclass(frozen=True, slots=True)
class Surefire:
    """The text of all errors and failures, one after the other, and what was left out and why."""

    text: str = ""
    notes: tuple[str, ...] = ()


class _RefusedError(Exception):
    """This file is not read. Never leaves this module."""


@dataclass(slots=True)
class _Failure:
    """One error or failure element: the text before its first child, and its attributes."""

    type: str
    message: str
    body: list[str] = field(default_factory=list)

    def text(self) -> str:
        body = "".join(self.body).strip()
        name, message = self.type.strip(), self.message.strip()
        if body or not name:
            return body
        return f"{name}: {message}" if message else name


def collect_surefire(artifacts: Iterable[Artifact]) -> Surefire:
    """Read the reports among ``artifacts``: sorted by path, at most MAX_FILES, and MAX_BYTES in total."""
    reports = sorted((report for report in artifacts if _is_report(report.path)),
                     key=lambda report: report.path.split(b"/"))
    texts: list[str] = []
    notes: list[str] = []
    used = 0
    for report in reports[:MAX_FILES]:
        if used + len(report.data) > MAX_BYTES:
            notes.append(f"{printable(report.path)}: left out, all reports may have {MAX_BYTES} bytes")
            continue
        used += len(report.data)
        try:
            texts.extend(_failures(report.data))
        except _RefusedError as reason:
            notes.append(f"{printable(report.path)}: ignored, {reason}")
    if len(reports) > MAX_FILES:
        notes.append(f"only the first {MAX_FILES} of {len(reports)} test reports were read")
    return Surefire("\n".join(texts), tuple(notes))


def _is_report(path: bytes) -> bool:
    parts = path.split(b"/")
    return (len(parts) > 1 and parts[-2] == b"surefire-reports"
            and parts[-1].startswith(b"TEST-") and parts[-1].endswith(b".xml"))


def _failures(data: bytes) -> list[str]:
    handler = _Handler()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = handler.doctype
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, TypeError, ValueError) as error:   # also: encodings of any name
        raise _RefusedError(f"not well-formed: {printable(str(error))}") from error
    return [text for text in (failure.text() for failure in handler.failures) if text]


class _Handler:
    def __init__(self) -> None:
        self.failures: list[_Failure] = []
        self._current: _Failure | None = None

    def doctype(self, *_: object) -> None:
        raise _RefusedError("it has a document type declaration")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._current = None
        if name.rpartition("}")[2] in {"error", "failure"}:
            self._current = _Failure(attributes.get("type", ""), attributes.get("message", ""))
            self.failures.append(self._current)

    def end(self, _name: str) -> None:
        self._current = None

    def characters(self, text: str) -> None:
        if self._current is not None:
            self._current.body.append(text)
