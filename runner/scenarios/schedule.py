"""How many journeys start when: explicit phases, or a profile that is resolved by a seed. The algorithm, its draws
included, is LiteTraffic's: a seed gives the same phases in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from random import Random
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from runner.load.job import Phase
from runner.scenarios.types import NotNegative, Positive, Strict, Text

MAX_SECONDS = 24 * 3600
MAX_JOURNEYS = 10_000_000
_MAX_PHASES = 10_000


class PhaseModel(Strict):
    """An explicit phase."""

    name: Text
    seconds: Positive
    rate: NotNegative


class Spiky(Strict):
    """Spikes at random places over a baseline."""

    kind: Literal["spiky"]
    duration_seconds: Positive
    baseline_rate: Positive
    spike_rate: Positive
    spike_seconds: Positive
    spikes: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check_room(self.duration_seconds, self.spikes, self.spike_seconds, "spikes")
        if self.spike_rate <= self.baseline_rate:
            raise ValueError("spike_rate must be more than baseline_rate")
        return self

    def resolve(self, seed: int) -> Iterator[Phase]:
        """Its phases."""
        return _bursts(seed, self.duration_seconds, self.spikes, self.spike_seconds,
                       (self.baseline_rate, "baseline"), (self.spike_rate, "spike"))


class RandomBursts(Strict):
    """Bursts at random places over quiet."""

    kind: Literal["random_bursts"]
    duration_seconds: Positive
    quiet_rate: NotNegative
    burst_rate: Positive
    burst_seconds: Positive
    bursts: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _check_room(self.duration_seconds, self.bursts, self.burst_seconds, "bursts")
        if self.burst_rate <= self.quiet_rate:
            raise ValueError("burst_rate must be more than quiet_rate")
        return self

    def resolve(self, seed: int) -> Iterator[Phase]:
        """Its phases."""
        return _bursts(seed, self.duration_seconds, self.bursts, self.burst_seconds,
                       (self.quiet_rate, "quiet"), (self.burst_rate, "burst"))


class SustainedBurst(Strict):
    """A ramp, a plateau, a recovery. The seed decides nothing."""

    kind: Literal["sustained_burst"]
    baseline_rate: NotNegative
    plateau_rate: Positive
    ramp_seconds: Positive
    plateau_seconds: Positive
    recovery_seconds: Positive

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.plateau_rate <= self.baseline_rate:
            raise ValueError("plateau_rate must be more than baseline_rate")
        if self.ramp_seconds > _MAX_PHASES:
            raise ValueError(f"ramp_seconds must be at most {_MAX_PHASES}")
        return self

    def resolve(self, _: int) -> Iterator[Phase]:
        """Its phases."""
        rise = self.plateau_rate - self.baseline_rate
        for second in range(1, self.ramp_seconds + 1):
            yield Phase(f"ramp-{second}", 1, self.baseline_rate + -(-rise * second // self.ramp_seconds))
        yield Phase("plateau", self.plateau_seconds, self.plateau_rate)
        yield Phase("recovery", self.recovery_seconds, self.baseline_rate)


Profile = Annotated[Spiky | RandomBursts | SustainedBurst, Field(discriminator="kind")]


class Schedule(Strict):
    """Either phases or a profile."""

    unit: Literal["journeys_per_second"]
    phases: Annotated[tuple[PhaseModel, ...], Field(min_length=1, max_length=_MAX_PHASES)] | None = None
    profile: Profile | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.phases is None) == (self.profile is None):
            raise ValueError("give exactly one of phases and profile")
        return self

    def resolve(self, seed: int) -> tuple[Phase, ...]:
        """The phases for a seed; a negative one acts as its absolute value. Raises ValueError for a schedule that
        admits nobody, or is beyond :data:`MAX_SECONDS` or :data:`MAX_JOURNEYS`.
        """
        if self.profile is None:
            phases = tuple(Phase(phase.name, phase.seconds, phase.rate) for phase in self.phases or ())
        else:
            phases = tuple(self.profile.resolve(seed))
        journeys, seconds = planned(phases), sum(phase.seconds for phase in phases)
        if journeys < 1:
            raise ValueError("admits no journey: at least one phase needs a rate above 0")
        if seconds > MAX_SECONDS:
            raise ValueError(f"takes {seconds} s, more than a day")
        if journeys > MAX_JOURNEYS:
            raise ValueError(f"admits {journeys} journeys, more than {MAX_JOURNEYS}")
        return phases


def planned(phases: tuple[Phase, ...]) -> int:
    """How many journeys are admitted."""
    return sum(phase.seconds * phase.rate for phase in phases)


def _check_room(duration: int, count: int, length: int, what: str) -> None:
    if duration > MAX_SECONDS:
        raise ValueError(f"duration_seconds must be at most {MAX_SECONDS}, a day")
    if duration // count < length:
        raise ValueError(f"{count} {what} of {length} s each do not fit into their shares of {duration} s")


def _bursts(seed: int, duration: int, count: int, length: int, low: tuple[int, str],
            high: tuple[int, str]) -> Iterator[Phase]:
    """Each burst is somewhere in its share of the time; neighbours that touch become one phase."""
    rates = [low[0]] * duration
    draw = Random(seed)  # noqa: S311 - it is to be repeatable, and to draw as LiteTraffic does
    for index in range(count):
        begin, end = index * duration // count, (index + 1) * duration // count
        start = draw.randint(begin, end - length)
        rates[start:start + length] = [high[0]] * length
    for number, (rate, slots) in enumerate(groupby(rates), 1):
        name = high[1] if rate == high[0] else low[1]
        yield Phase(f"{name}-{number}", sum(1 for _ in slots), rate)
