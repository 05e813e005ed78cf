"""Where on which page a failure of a browser session was seen: its URL, and line and column of the code.

The evidence's own rows name failures only. What the driver told of each stands in the run's ``outcome.json``, or in
the ``incident.json`` of a recording. Both are claims of a process that a page can attack: what cannot be read says
nothing, and a place is shown, never opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from runner.browser.outcome import Signal
from runner.errors import NoVerdict, ReportError
from runner.evidence.check import Evidence
from runner.evidence.result import Result
from runner.incidents.identity import identity_of
from runner.incidents.outcomes import parse_outcome
from runner.incidents.read import parse_incident
from runner.reports.session_words import INCIDENT_FILE

_OUTCOME = "out/outcome.json"
_MOST_RUNS = 4
_LONGEST_URL = 2_048
_LAST = 10_000_000
_MOST_LINES = 30
_FRAMES = (re.compile(r"\s+at (?:async )?(?:[^\n]{1,300}? \()?(?P<url>https?://[^\s()]{1,2048}?)"
                      r":(?P<line>\d{1,8})(?::(?P<column>\d{1,8}))?\)?$"),
           re.compile(r"(?:async\*)?[^@\s]{0,300}@(?P<url>https?://\S{1,2048}?):(?P<line>\d{1,8})"
                      r"(?::(?P<column>\d{1,8}))?$"))
"""A line of a stack as Chromium and WebKit, and as Firefox write it."""
_USER = re.compile(r"^(https?://)[^/?#]*@")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Sighting:
    """``url`` is a valid URI; ``line`` and ``column`` count from 1, ``None`` where nothing tells them."""

    url: str
    line: int | None = None
    column: int | None = None
    message: str = ""


def sightings(evidence: Evidence) -> dict[str, Sighting]:
    """By the failures' IDs. Raises EvidenceAltered."""
    session = evidence.result.session
    wanted = {failure.id for failure in session.failures} if session is not None else set()
    found: dict[str, Sighting] = {}
    for name, signal in _signals(evidence):
        if name in wanted and name not in found and (seen := _sighting(signal)) is not None:
            found[name] = seen
            if len(found) == len(wanted):
                break
    return found


def page_of(result: Result) -> str | None:
    """The page that the session opened, as a valid URI."""
    return None if result.session is None else _uri(result.session.url)


def _signals(evidence: Evidence) -> Iterator[tuple[str, Signal]]:
    """IDs of failures with a signal of each: of a recording, else of the first runs."""
    result = evidence.result
    for file in result.session.files if result.session is not None else ():
        if file.name == INCIDENT_FILE:
            try:
                incident = parse_incident(evidence.file(file))
            except ReportError:
                return
            yield from ((each.identity.id, each.sample) for each in incident.failures if each.sample is not None)
    for sample in result.samples[:_MOST_RUNS]:
        for artifact in sample.artifacts:
            if artifact.path == _OUTCOME and sample.session is not None:
                try:
                    outcome = parse_outcome(evidence.file(artifact))
                except NoVerdict:
                    continue
                times = {failure.at_ms: failure.id for failure in sample.session.failures}
                for signal in outcome.signals:
                    yield identity_of(signal).id, signal
                    if signal.at_ms in times:
                        yield times[signal.at_ms], signal


def _sighting(signal: Signal) -> Sighting | None:
    for line in signal.stack.splitlines()[:_MOST_LINES]:
        frame = next((hit for pattern in _FRAMES if (hit := pattern.match(line[:4096]))), None)
        if frame is not None and (url := _uri(frame["url"])):
            return Sighting(url, _number(frame["line"]), _number(frame["column"]), signal.message)
    told = _uri(signal.url) or _uri(signal.page)
    return Sighting(told, message=signal.message) if told else None


def _number(text: str | None) -> int | None:
    number = int(text) if text else 0
    return number if 0 < number < _LAST else None


def _uri(text: str) -> str | None:
    """An http(s) URL without user, with everything quoted that no URI may hold; ``None`` for anything else."""
    try:
        parts = urlsplit(_USER.sub(r"\1", text[:_LONGEST_URL]))
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    name = f"[{_quoted(host, ':')}]" if ":" in host else _quoted(host, "")
    place = name if port is None else f"{name}:{port}"
    return urlunsplit((parts.scheme, place, _quoted(parts.path, "/:@!$&'()*+,;="),
                       _quoted(parts.query, "/:@!$&'()*+,;=?"), _quoted(parts.fragment, "/:@!$&'()*+,;=?")))


def _quoted(text: str, safe: str) -> str:
    return quote(_BAD_ESCAPE.sub("%25", text), safe=safe + "%", errors="replace")
