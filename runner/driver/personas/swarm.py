"""The swarm: the other four, wave after wave, each with a seed of its own drawn from the swarm's."""

from __future__ import annotations

import random

from runner.driver.personas.acting import Mind, Persona, Thinking
from runner.driver.personas.adversary import adversary
from runner.driver.personas.clicking import rage_clicker
from runner.driver.personas.network import network_tormentor
from runner.driver.personas.novice import novice_chaotic
from runner.driver.view import View

WAVE = 4
"""Steps in a wave."""
FOUR: tuple[Persona, ...] = (novice_chaotic, adversary, network_tormentor, rage_clicker)


def swarm(rng: random.Random, view: View) -> Mind:
    """Waves of four steps; each goes on where it left off."""
    minds = [Thinking(persona, random.Random(rng.getrandbits(64))) for persona in FOUR]  # noqa: S311 (no secrets)
    while True:
        for mind in minds:
            for _ in range(WAVE):
                view = yield mind.next_act(view)
