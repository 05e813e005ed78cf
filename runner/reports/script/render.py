"""An incident as a script that plays it again by itself.

The script's code is ours and the same for every incident (:mod:`runner.reports.script.bundle`); what comes from the
incident is one string, the JSON text that it begins with. It is ASCII, written by :func:`repr`, and so holds whatever
it holds: nothing of an incident is in a comment, a docstring or a name.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from runner.browser.faults import ApiFault, StateFault
from runner.incidents.identity import race_identity
from runner.incidents.model import Failure, Incident
from runner.reports.script.bundle import bundle

_PARTS = "runner.reports.script.parts"
_PLACE = 'json.loads("{}")'
_API_FIELDS = ("fault_type", "method", "url", "occurrence", "from_step", "status", "content_type", "body", "delay_ms",
               "step")
_STATE_FIELDS = ("fault_type", "storage_area", "key", "injected_value", "offset_ms")


def render_script(incident: Incident) -> str:
    """The source of ``repro_test.py``: a race if the incident is one, else a sequence of steps."""
    source = bundle(f"{_PARTS}.{'race' if incident.race is not None else 'sequence'}")
    before, place, after = source.partition(_PLACE)
    if not place or _PLACE in after:
        raise ValueError("the template has not one place for the incident")
    return f"{before}json.loads({_literal(data_of(incident))}){after}"


def data_of(incident: Incident) -> dict[str, Any]:
    """What the script needs of an incident, in JSON's types."""
    data: dict[str, Any] = {
        "run": incident.run_id, "url": incident.target_url, "browser": incident.browser, "device": incident.device,
        "landscape": incident.landscape, "pace": incident.pace, "seed": incident.seed,
        "trace": [asdict(step) for step in incident.trace],
        "api_faults": [_picked(fault, _API_FIELDS) for fault in incident.api_faults],
        "state_faults": [_picked(fault, _STATE_FIELDS) for fault in incident.state_faults],
        "failures": [_failure(failure) for failure in incident.failures],
        "race": None if incident.race is None else asdict(incident.race)}
    if incident.race is not None and not data["failures"]:
        data["failures"] = [_failure(Failure(race_identity("", "")))]
    return data


def _picked(value: ApiFault | StateFault, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _failure(failure: Failure) -> dict[str, Any]:
    identity = failure.identity
    return {"name": identity.key, "step": failure.step, **asdict(identity)}


def _literal(data: dict[str, Any]) -> str:
    """One string constant, a line of JSON a line of source."""
    lines = json.dumps(data, indent=1, ensure_ascii=True, allow_nan=False).split("\n")
    return "\n".join(["", *(f"    {line!r}" for line in lines), ""])
