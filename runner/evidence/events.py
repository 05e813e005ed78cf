"""The event log of one replay: append-only, gapless, each event bound to the one before by its digest.

A log is a file of lines. A line is the canonical JSON of one event (sorted keys, no spaces, ASCII); its digest is
the SHA-256 of the line without the newline. ``previous`` is the digest of the line before, 64 zeros in the first.
So ``sha256sum`` is all that is needed to follow the chain, and its head stands for everything in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from runner.errors import EvidenceAltered

EventKind = Literal["replay.started", "payload.sealed", "run.judged", "replay.judged"]

START = "0" * 64
"""What the first event has for a digest of the one before."""

_FIELDS = frozenset({"at", "data", "kind", "previous", "run_id", "seq"})


def canonical(document: Any) -> bytes:
    """Canonical JSON: sorted keys, no spaces, ASCII. Raises ValueError for a number that is not finite."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


@dataclass(frozen=True, slots=True)
class Event:
    """One confirmed step of a replay. ``seq`` counts from 1; ``at`` is UTC, ISO 8601."""

    run_id: str
    seq: int
    at: str
    kind: EventKind
    data: dict[str, Any]
    previous: str

    def line(self) -> bytes:
        """Its one way to be written, without the newline."""
        return canonical({"at": self.at, "data": self.data, "kind": self.kind, "previous": self.previous,
                          "run_id": self.run_id, "seq": self.seq})

    def digest(self) -> str:
        """SHA-256 of :meth:`line`, lowercase hex."""
        return sha256(self.line()).hexdigest()


def read_events(raw: bytes, run_id: str) -> tuple[Event, ...]:
    """The events of a log, each proved to follow the one before. Raises EvidenceAltered, naming the event."""
    lines = raw.split(b"\n")
    if lines.pop() != b"":
        raise EvidenceAltered("the event log does not end with a whole line")
    return tuple(_follow(lines, run_id))


def _follow(lines: Iterable[bytes], run_id: str) -> Iterable[Event]:
    previous = START
    for seq, line in enumerate(lines, 1):
        event = _parse(line, seq)
        if (event.run_id, event.seq) != (run_id, seq):
            raise EvidenceAltered(f"event {seq} is event {event.seq} of {event.run_id[:80]!a}")
        if event.previous != previous:
            raise EvidenceAltered(f"event {seq} does not follow event {seq - 1}: an event was changed or removed")
        previous = sha256(line).hexdigest()
        yield event


def _parse(line: bytes, seq: int) -> Event:
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict) or fields.keys() != _FIELDS:
            raise ValueError("fields")
        event = Event(**fields)
        well_typed = isinstance(event.run_id, str) and isinstance(event.data, dict) and type(event.seq) is int
        if not well_typed or event.line() != line:
            raise ValueError("form")
    except (ValueError, TypeError, RecursionError):
        raise EvidenceAltered(f"event {seq} is malformed or not in canonical form") from None
    return event
