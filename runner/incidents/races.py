"""Counting what the lanes of a race got: which requests changed state, how often, and who was refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runner.browser.outcome import Lane, Outcome, Response, Signal
from runner.incidents.identity import race_identity
from runner.incidents.model import Failure
from runner.incidents.normalise import normal_url

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Requests that change nothing (RFC 9110, 9.2.1)."""

CONSOLE = "Console error: "
"""How LOKI marks a line of the console among the crashes of a lane."""


@dataclass(frozen=True, slots=True)
class Tally:
    """One request that the lanes made.

    ``succeeded``, ``refused`` (400 to 499) and ``failed`` (500 and more) count lanes; a lane counts once for each.
    ``repeats`` are lanes whose success only repeated another's: the same idempotency key got the same bytes.
    """

    method: str
    url: str
    succeeded: int
    refused: int
    failed: int
    repeats: int


def tally(lanes: Sequence[Lane]) -> tuple[Tally, ...]:
    """What became of every request that may change state, in the order in which the lanes first made them."""
    asked: dict[tuple[str, str], list[tuple[int, Response]]] = {}
    for lane in lanes:
        for response in lane.responses:
            if response.method.upper() not in SAFE_METHODS:
                asked.setdefault((response.method.upper(), normal_url(response.url)), []).append((lane.lane, response))
    return tuple(_tally(method, url, answers) for (method, url), answers in asked.items())


def _tally(method: str, url: str, answers: Iterable[tuple[int, Response]]) -> Tally:
    succeeded, repeats, refused, failed = set(), set(), set(), set()
    done: set[tuple[str, str]] = set()
    for lane, response in answers:
        if response.status >= 500:
            failed.add(lane)
        elif response.status >= 400:
            refused.add(lane)
        elif response.idempotency_key and (response.idempotency_key, response.body_sha256) in done:
            repeats.add(lane)
        else:
            succeeded.add(lane)
            done.add((response.idempotency_key, response.body_sha256))
    return Tally(method, url, len(succeeded), len(refused), len(failed), len(repeats - succeeded))


def raced(lanes: Sequence[Lane]) -> tuple[Tally, ...]:
    """The requests that succeeded in two lanes or more."""
    return tuple(each for each in tally(lanes) if each.succeeded >= 2)


def race_failure(lanes: Sequence[Lane]) -> Failure | None:
    """The race that lanes show; ``None`` if they show none. It bears the name of the last request that succeeded too
    often: what a page asks for as it loads, such as a session for each lane, comes first.
    """
    found = raced(lanes)
    return Failure(race_identity(found[-1].method, found[-1].url), count=found[-1].succeeded) if found else None


def lane_signals(outcome: Outcome) -> tuple[Signal, ...]:
    """Server errors and crashes that lanes tell of and that are among no signals."""
    told = {(signal.lane, signal.status, signal.url) for signal in outcome.signals if signal.kind == "http_error"}
    thrown = {(signal.lane, signal.message) for signal in outcome.signals}
    found: list[Signal] = []
    for lane in outcome.lanes:
        found += [Signal("http_error", -1, 0.0, f"HTTP {each.status} on {each.url}", method=each.method, url=each.url,
                         status=each.status, lane=lane.lane)
                  for each in lane.responses if each.status >= 500 and (lane.lane, each.status, each.url) not in told]
        found += [Signal("pageerror", -1, 0.0, text, lane=lane.lane) for text in lane.crashes
                  if (lane.lane, text) not in thrown and not text.startswith(CONSOLE)]
    return tuple(found)
