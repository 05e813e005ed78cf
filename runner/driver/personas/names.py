"""The personas by the names that a job gives them."""

from __future__ import annotations

from runner.browser import job
from runner.driver.personas.acting import Persona
from runner.driver.personas.adversary import adversary
from runner.driver.personas.clicking import nobody, rage_clicker
from runner.driver.personas.network import network_tormentor
from runner.driver.personas.novice import novice_chaotic
from runner.driver.personas.swarm import swarm

PERSONAS: dict[job.Persona, Persona] = {
    "rage-clicker": rage_clicker, "novice-chaotic": novice_chaotic, "network-tormentor": network_tormentor,
    "adversary": adversary, "swarm": swarm, "none": nobody,
}
