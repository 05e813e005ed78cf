"""Replays for the store's tests: openings, events, and whole stored runs without any backend."""

from __future__ import annotations

import os
from pathlib import Path

from runner.evidence.events import START, Event
from runner.evidence.index import Closing, Index, Opening

RUN = "run_20261130_120000_0a0b0c0d"


def opening(place: Path, run_id: str = RUN, **changes: object) -> Opening:
    """What the index is told before anything runs."""
    return Opening(run_id, os.fsencode(place), "2026-11-30T12:00:00.000Z", "python3 check.py", "/x/report.json",
                   "ab" * 32, "docker", 3)._replace(**changes)  # type: ignore[arg-type]


def chain(run_id: str = RUN, *kinds: str) -> list[Event]:
    """Events that follow each other."""
    events: list[Event] = []
    for seq, kind in enumerate(kinds or ("replay.started", "payload.sealed"), 1):
        previous = events[-1].digest() if events else START
        events.append(Event(run_id, seq, f"2026-11-30T12:00:0{seq % 10}.000Z", kind, {"n": seq}, previous))  # type: ignore[arg-type]
    return events


WHOLE = ("replay.started", "payload.sealed", "run.judged", "replay.judged")


def closing(events: list[Event], **changes: object) -> Closing:
    """The end that goes with a chain."""
    return Closing("2026-11-30T12:01:00.000Z", "reproduced", 0, 3, 60.0, "cd" * 32, len(events), events[-1].digest(),
                   1234)._replace(**changes)  # type: ignore[arg-type]


def add_finished(index: Index, run_id: str, place: Path = Path("/nowhere"), **changes: object) -> None:
    """A finished row with its log; no directory."""
    events = chain(run_id, *WHOLE)
    index.register(opening(place, run_id, **changes), events)
    index.finish(run_id, closing(events))
