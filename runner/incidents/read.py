"""The door for incidents: a run directory of LOKI's or ours, or the ``incident.json`` in it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from runner.errors import ReportError, printable
from runner.incidents.loki.har import HAR_FILE, Exchange, read_har
from runner.incidents.loki.incident import from_loki
from runner.incidents.model import Incident
from runner.incidents.own import from_own, is_own
from runner.incidents.strict import plain_json
from runner.sources.reading import open_report
from runner.sources.wording import describe

INCIDENT_FILE = "incident.json"
MAX_INCIDENT_BYTES = 48 << 20
"""LOKI's are a few KiB; ours hold the bodies of faults."""

_KEYS = frozenset({"replay_trace", "target_url", "persona"})


def is_incident(data: Mapping[str, object]) -> bool:
    """Whether a parsed JSON object is an incident of a browser session, LOKI's or ours."""
    return data.keys() >= _KEYS


def read_incident(path: str | os.PathLike[str]) -> Incident:
    """The incident of a run directory, or of an ``incident.json``. ``~`` is expanded; a symbolic link in the place of
    the file is not followed.

    Raises ReportError for a file that cannot be read, is no incident, or has a key of a wrong type; nothing else for
    any content of the file.
    """
    file = incident_file(path)
    with open_report(file) as opened:
        raw = opened.read(MAX_INCIDENT_BYTES + 1)
    try:
        if len(raw) > MAX_INCIDENT_BYTES:
            raise ReportError(f"larger than {MAX_INCIDENT_BYTES >> 20} MiB, which no incident is")
        return replace(_read(raw, os.path.dirname(file)), path=os.fspath(path), sha256=sha256(raw).hexdigest())
    except ReportError as error:
        raise ReportError(f"{printable(file)}: {error.message}", hint=error.hint) from None


def incident_file(path: str | os.PathLike[str]) -> str:
    """The file that is meant by a run directory or a file."""
    expanded = os.path.expanduser(os.fspath(path))
    return os.path.join(expanded, INCIDENT_FILE) if os.path.isdir(expanded) else expanded


def parse_incident(raw: bytes) -> Incident:
    """The incident in the bytes of an ``incident.json``, with nothing beside it. Raises as :func:`read_incident`."""
    return _read(raw, None)


def _read(raw: bytes, folder: str | None) -> Incident:
    data = plain_json(raw)
    if not isinstance(data, dict):
        raise ReportError(f"holds {describe(data)}, expected an object")
    if not is_incident(data):
        raise ReportError("is no incident: it lacks " + " and ".join(sorted(_KEYS - data.keys())))
    if is_own(data):
        return from_own(data)
    exchanges, note = _beside(folder) if data.get("har_file") is not None else ((), "")
    incident = from_loki(data, exchanges)
    return replace(incident, notes=(*incident.notes, note)) if note else incident


def _beside(folder: str | None) -> tuple[tuple[Exchange, ...], str]:
    """The HAR, always under its one name: what the incident calls it is a stranger's word for a path."""
    place = os.path.join(folder, HAR_FILE) if folder is not None else ""
    if not place or not os.path.lexists(place):
        return (), ""
    try:
        return read_har(place), ""
    except ReportError as error:
        return (), f"{HAR_FILE} is not used: {error.message.removeprefix(printable(place) + ': ')}"
