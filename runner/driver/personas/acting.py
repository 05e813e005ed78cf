"""What a persona is: a generator that is sent what is to be seen, and yields what it does about it.

It knows nothing but the views that it was sent and the random numbers that it was given, so the same views and the
same seed make the same acts: no clock, no order of a set, no identity of an object has a part in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass

from runner.browser.trace import Step, UiFreezeStep
from runner.driver.view import View


@dataclass(frozen=True, slots=True)
class Act:
    """One step, and how it is told."""

    step: Step
    says: str


Mind = Generator[Act, View, View]
"""A persona under way. Never ends by itself; what it returns is for the parts that it is made of."""
Persona = Callable[[random.Random, View], Mind]
"""Begins with the first view."""


def look_again(why: str) -> Act:
    """Let the page go on by itself for as long as one step lasts."""
    return Act(UiFreezeStep(type="look", reason=why), f"Looked again: {why}")


class Thinking:
    """A persona that can be asked act by act."""

    def __init__(self, persona: Persona, rng: random.Random) -> None:
        self._persona = persona
        self._rng = rng
        self._mind: Mind | None = None

    def next_act(self, view: View) -> Act:
        """What it does now that it sees ``view``."""
        if self._mind is None:
            self._mind = self._persona(self._rng, view)
            return next(self._mind)
        return self._mind.send(view)
