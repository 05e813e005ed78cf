"""An incident's claims for a person: rows for :mod:`runner.reports.claims.show`. Values are raw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Row = tuple[str, str]
_MOST = 40
"""Rows of one list; the JSON has all."""


def session_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """What was opened, by whom, and how."""
    yield "opens", said["url"]
    who = said["persona"] or "no persona"
    yield "played by", who if said["seed"] is None else f"{who}, seed {said['seed']}"
    yield "browser", " ".join(filter(None, (said["browser"], said["device"], said["orientation"])))
    steps = f"{said['steps']} {'step' if said['steps'] == 1 else 'steps'}"
    yield "length", f"{steps}, {said['duration_seconds']:g} s, pace {said['pace']}"


def application_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """What our own recordings know of the application."""
    yield "application", said["command"] or f"ran elsewhere, network {said['network']}"
    if said["image"]:
        yield "image", said["image"]
    if said["payload"]:
        yield "payload", said["payload"]
    for which in ("exact", "content"):
        if said[which]:
            yield which, f"{said[which]} (manifest-sha256-v1)"
    if said["browser_image"]:
        yield "with", f"{said['browser_image']}, version {said['browser_version'] or 'not said'}"
    yield from (("policy", f"{name} {digest}") for name, digest in said["policies"].items())
    if said["uncontrolled"]:
        yield "uncontrolled", ", ".join(said["uncontrolled"])
    if said["shrunk_from"]:
        yield "shrunk from", said["shrunk_from"]


def failure_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """Each failure that the recording claims."""
    if not said:
        yield "failure", "none"
    yield from _listed("failure", said)


def trace_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """The steps."""
    yield from _listed("step", {number: f"{number}: {text}" for number, text in said.items()})


def api_fault_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """Faults in answers."""
    yield from _listed("API fault", said)


def state_fault_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """Faults in stored state."""
    yield from _listed("state fault", said)


def race_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """Who raced for what."""
    yield "race", f"{said['lanes']} lanes click {said['selector'] or 'the first button'}"
    yield from _listed("lane", {lane: f"{lane}: {text or 'no answer'}" for lane, text in said["answers"].items()})


def missing_rows(said: Mapping[str, Any]) -> Iterator[Row]:
    """What the recording leaves unsaid."""
    yield from _listed("not said", said)


def _listed(label: str, said: Mapping[str, Any]) -> Iterator[Row]:
    for number, text in enumerate(said.values()):
        if number == _MOST:
            yield label, f"and {len(said) - _MOST} more"
            return
        yield label, str(text)
