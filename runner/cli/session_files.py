"""Recorded browser sessions that ``runner report`` is given: run directories, LOKI's or ours, or an incident.json."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from runner.cli.sessions import is_session
from runner.controller.sessions.find import find_incident
from runner.errors import PayloadMismatch, ReportError
from runner.evidence.check import open_evidence
from runner.incidents.model import Incident
from runner.incidents.places import INCIDENT_FILE
from runner.incidents.read import MAX_INCIDENT_BYTES, read_incident
from runner.payload.seal import DEFAULT_LIMITS, seal
from runner.reports.claims.session import session_summary
from runner.sources.reading import open_report

_KEY = b'"replay_trace"'
_START = 4096


def is_recorded(path: str) -> bool:
    """Whether a recorded session is meant: by its place, or by the key that every incident has. Raises ReportError."""
    if is_session(path):
        return True
    with open_report(path) as file:
        start = file.read(_START)
        return start.lstrip().startswith(b"{") and _KEY in start + file.read(MAX_INCIDENT_BYTES)


def read_recorded(path: str) -> Incident:
    """The incident. Raises UsageError, ReportError."""
    return read_incident(find_incident(os.path.expanduser(path)))


def check_recorded(path: str, payload: str | None) -> dict[str, Any]:
    """A summary of a recorded session, after all that is beside it was checked: of our own run directories every
    digest. Raises InputError for whatever is not as it must be.
    """
    place = find_incident(os.path.expanduser(path))
    incident = read_incident(place)
    proved = os.path.isdir(place) and os.path.lexists(os.path.join(place, "result.json"))
    if proved:
        _check_evidence(place, incident)
    summary = {**session_summary(incident), "evidence_checked": proved, "report": os.path.abspath(place)}
    if payload is not None:
        mode = _payload_mode(incident, payload)
        summary |= {"payload": os.path.abspath(os.path.expanduser(payload)), "payload_checked": True,
                    "payload_fingerprint_mode": mode, "payload_fingerprint_verified": mode != "unavailable"}
    return summary


def _check_evidence(place: str, incident: Incident) -> None:
    session = open_evidence(Path(place)).result.session
    files = {file.name: file.sha256 for file in session.files} if session is not None else {}
    if files.get(INCIDENT_FILE) != incident.sha256:
        raise ReportError(f"{INCIDENT_FILE} is not the one that result.json names")


def _payload_mode(incident: Incident, payload: str) -> str:
    own, seen = incident.own, seal(payload, DEFAULT_LIMITS).fingerprint
    if own is None or not own.exact:
        return "unavailable"
    if seen.exact == own.exact:
        return "exact"
    if seen.content != own.content:
        raise PayloadMismatch(f"not the recorded payload: its content digest is {seen.content}, the incident has "
                              f"{own.content}", hint="a repaired application is another payload")
    return "content"
