"""Between an incident and its candidates."""

from __future__ import annotations

from dataclasses import replace

from runner.controller.shrinking.candidate import Candidate
from runner.errors import UsageError, printable
from runner.incidents.model import Failure, Incident


def whole_of(incident: Incident) -> Candidate:
    """The candidate with nothing left out."""
    return Candidate(trace=incident.trace, api_faults=incident.api_faults, state_faults=incident.state_faults,
                     lanes=incident.race.lanes if incident.race else 0)


def incident_of(incident: Incident, candidate: Candidate) -> Incident:
    """The incident with a candidate's steps and faults instead of its own.

    Its failures and what its lanes got stay, for a replay to compare with. What was recorded of single steps belongs
    to the recorded trace and goes.
    """
    if candidate == whole_of(incident):
        return incident
    return replace(incident, trace=candidate.trace, api_faults=candidate.api_faults,
                   state_faults=candidate.state_faults,
                   race=replace(incident.race, lanes=candidate.lanes) if incident.race else None,
                   failures=tuple(replace(failure, step=None, at_ms=None) for failure in incident.failures),
                   own=replace(incident.own, steps=()) if incident.own else None, actions=())


def chosen_failures(incident: Incident, wanted: str | None) -> tuple[Failure, ...]:
    """The failures to shrink: all, or those whose ID begins with ``wanted`` or whose name holds it.

    Raises UsageError when there are none.
    """
    if not incident.failures:
        raise UsageError(f"{printable(incident.path)}: no failure was recorded, so there is nothing to shrink")
    if wanted is None:
        return incident.failures
    found = tuple(failure for failure in incident.failures if _is_meant(failure, wanted))
    if not found:
        recorded = "; ".join(f"{failure.identity.id} {failure.identity.key}" for failure in incident.failures[:10])
        raise UsageError(f"--identity {printable(wanted)}: no recorded failure is meant",
                         hint=f"recorded are: {recorded}")
    return found


def _is_meant(failure: Failure, wanted: str) -> bool:
    name = failure.identity
    return bool(wanted) and (name.id.startswith(wanted.lower()) or wanted.casefold() in name.key.casefold())
