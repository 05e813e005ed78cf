"""Incidents of the samples, and sessions as a driver would tell of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runner.browser.outcome import Lane, Outcome, Response, Signal, StepRecord
from runner.incidents.model import Incident
from runner.incidents.read import read_incident

DATA = Path(__file__).parent.parent / "data"


def sample(name: str) -> Incident:
    """``loki/crash``, ``browser/cart_store``, …"""
    return read_incident(DATA / name)


def played(incident: Incident, *signals: Signal, lanes: tuple[Lane, ...] = (), **changes: object) -> Outcome:
    """A session that took every step, with these signals."""
    steps = tuple(StepRecord(index, "done", index * 100.0, index * 100.0 + 50) for index in range(len(incident.trace)))
    return replace(Outcome("done", started="2026-11-30T08:00:00.000Z", duration_ms=1000.0, trace=incident.trace,
                           steps=steps, signals=signals, lanes=lanes, state_faults=incident.state_faults,
                           api_faults=incident.api_faults), **changes)


def thrown(message: str, frame: str = "HTMLButtonElement.<anonymous> (http://127.0.0.1:1/:3:9)", *, step: int = 0,
           kind: str = "pageerror", own: str = "") -> Signal:
    """An error of a page, with a stack of one frame."""
    return Signal(kind, step, 1.0, message, f"TypeError: {message}\n    at {frame}", own=own)  # type: ignore[arg-type]


def answered(status: int, method: str, url: str, *, step: int = 0, own: str = "", lane: int | None = None) -> Signal:
    """A response that is an error."""
    return Signal("http_error", step, 1.0, f"HTTP {status} (Reason) on {url}", method=method, url=url, status=status,
                  own=own, lane=lane)  # type: ignore[arg-type]


def lanes(method: str, url: str, *statuses: int, selector: str = "#x") -> tuple[Lane, ...]:
    """One lane for each status."""
    return tuple(Lane(index, selector, 1.0, responses=(Response(method, url, status),))
                 for index, status in enumerate(statuses))
