"""From what a driver says of a session to the incident that is kept of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from runner.browser.job import Job, Persona
from runner.browser.outcome import Outcome
from runner.browser.trace import StateFaultStep
from runner.errors import NoVerdict
from runner.incidents.failures import sort_signals
from runner.incidents.model import Incident, OwnPart
from runner.incidents.noise import session_of
from runner.incidents.races import lane_signals, race_failure

PERSONA_NAMES: Final[Mapping[Persona, str | None]] = MappingProxyType({
    "rage-clicker": "RageClicker", "novice-chaotic": "NoviceChaotic", "network-tormentor": "NetworkTormentor",
    "adversary": "Adversary", "swarm": "Swarm", "none": None})
"""Personas as LOKI's ``incident.json`` names them."""


def incident_of(outcome: Outcome, job: Job, own: OwnPart, *, run_id: str, timestamp: str) -> Incident:
    """The incident of a recorded session. ``timestamp`` is local ISO time without zone, as LOKI writes it; ``own`` is
    what the controller knows, its other fields are filled from the outcome and the job.

    Raises NoVerdict for an outcome that contradicts itself.
    """
    marks = sum(isinstance(step, StateFaultStep) for step in outcome.trace)
    if marks != len(outcome.state_faults):
        raise NoVerdict(f"the driver tells of {len(outcome.state_faults)} state faults in {marks} steps")
    found = sort_signals((*outcome.signals, *lane_signals(outcome)), session_of(outcome))
    race = race_failure(outcome.lanes)
    filled = replace(own, chaos=job.chaos, state=outcome.state, detail=outcome.detail, browser=outcome.browser,
                     steps=outcome.steps, noise=found.noise, uncontrolled=outcome.uncontrolled,
                     dropped=outcome.dropped, spread_ms=outcome.spread_ms, files=outcome.files)
    return Incident(
        source="runner", target_url=job.url, run_id=run_id, timestamp=timestamp,
        persona=PERSONA_NAMES[job.chaos.persona] if job.chaos is not None else None, browser=job.browser,
        seed=job.seed, device=job.device, landscape=job.landscape, pace=job.pace,
        duration_seconds=round(outcome.duration_ms / 1000, 2), trace=outcome.trace, api_faults=outcome.api_faults,
        state_faults=outcome.state_faults, race=job.race, lanes=outcome.lanes,
        failures=((race,) if race else ()) + found.failures, actions=outcome.actions, own=filled)
