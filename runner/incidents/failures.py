"""From the signals of a session to its failures: noise taken out by name, the same bug counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner.browser.outcome import Signal
from runner.incidents.identity import Identity, fits, identity_of
from runner.incidents.model import Failure, NoiseCount
from runner.incidents.noise import ECHO, Session, noise_rule


@dataclass(frozen=True, slots=True)
class Sorted:
    """The failures in the order in which they were first seen, and what was no failure, by rule.

    ``echoes`` are signs of these same failures, such as the blank page that an error left behind: a recording may name
    one of them.
    """

    failures: tuple[Failure, ...]
    echoes: tuple[Failure, ...]
    noise: tuple[NoiseCount, ...]


def sort_signals(signals: Sequence[Signal], session: Session) -> Sorted:
    """Tell failures from noise, and put the signals of one failure together."""
    kept: list[Signal] = []
    echoes: list[Signal] = []
    noise: Counter[str] = Counter()
    first: dict[str, str] = {}
    for signal in signals:
        rule = noise_rule(signal, session)
        if rule is None:
            kept.append(signal)
            continue
        if rule.name == ECHO:
            echoes.append(signal)
        noise[rule.name] += 1
        first.setdefault(rule.name, identity_of(signal).key)
    counts = tuple(NoiseCount(name, count, first[name]) for name, count in noise.items())
    return Sorted(together(kept), together(echoes), counts)


def together(signals: Sequence[Signal]) -> tuple[Failure, ...]:
    """One failure for each identity. Of two that fit each other the fuller name is kept: with frames, with a method."""
    found: dict[tuple[object, ...], list[Failure]] = {}
    for signal in signals:
        identity = identity_of(signal)
        same = found.setdefault((identity.kind, identity.message, identity.url, identity.status), [])
        for index, failure in enumerate(same):
            if fits(failure.identity, identity) or fits(identity, failure.identity):
                fuller = _fuller(failure.identity, identity)
                same[index] = replace(failure, count=failure.count + 1, identity=fuller)
                break
        else:
            same.append(Failure(identity, signal.step, signal.at_ms, 1, signal))
    failures = [failure for group in found.values() for failure in group]
    order = {id(signal): index for index, signal in enumerate(signals)}
    return tuple(sorted(failures, key=lambda failure: order[id(failure.sample)]))


def _fuller(one: Identity, other: Identity) -> Identity:
    return other if (bool(other.frames), bool(other.method)) > (bool(one.frames), bool(one.method)) else one
