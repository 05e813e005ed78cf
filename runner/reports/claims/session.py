"""What an incident claims of a browser session, LOKI's or ours, as plain values, and what it leaves unsaid.

Texts are the recording's own: whoever prints them makes them safe. Lists are mappings from a number or a failure's ID,
so that two incidents can be compared entry by entry.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator

from runner.browser.faults import ApiFault, StateFault
from runner.controller.sessions.runs import step_text
from runner.incidents.identity import is_grave
from runner.incidents.model import Incident, OwnPart
from runner.reports.claims.content import Claims

SUMMARY_VERSION = 1
FORMATS = {"loki": "LOKI incident.json", "runner": "runner.incident/1"}
_PERSONAS = frozenset({"RageClicker", "NoviceChaotic", "NetworkTormentor", "Adversary", "Swarm"})


def session_claims(incident: Incident) -> Claims:
    """Every claim of an incident, in groups."""
    own = incident.own
    return {
        "session": {"url": incident.target_url, "mode": "race" if incident.race is not None else "trace",
                    "persona": incident.persona, "seed": incident.seed, "pace": incident.pace,
                    "browser": incident.browser, "device": incident.device,
                    "orientation": "landscape" if incident.landscape else "portrait",
                    "steps": len(incident.trace), "duration_seconds": incident.duration_seconds},
        "application": _application(own) if own is not None else None,
        "failures": {failure.identity.id: f"{failure.identity.key}{_first(failure.step)}"
                     for failure in incident.failures},
        "trace": {str(index): step_text(step) for index, step in enumerate(incident.trace)},
        "api_faults": {str(index): _api_fault(fault) for index, fault in enumerate(incident.api_faults)},
        "state_faults": {str(index): _state_fault(fault) for index, fault in enumerate(incident.state_faults)},
        "race": _race(incident),
        "missing": {str(index): text for index, text in enumerate(lacks(incident))},
        "report": {"path": incident.path, "sha256": incident.sha256, "format": FORMATS[incident.source],
                   "kind": "session", "tool": own.tool if own is not None else None, "created": incident.timestamp}}


def _first(step: int | None) -> str:
    return "" if step is None else f" (first at step {step})"


def _application(own: OwnPart) -> dict[str, object]:
    target = own.target
    command = target.command if target is not None else None
    return {"command": " ".join(command) if isinstance(command, tuple) else command,
            "image": target.image.id if target is not None else None, "payload": own.payload or None,
            "exact": own.exact or None, "content": own.content or None, "network": own.network,
            "browser_image": own.driver_image.id if own.driver_image is not None else None,
            "browser_version": own.browser.version or None, "policies": dict(own.policies),
            "uncontrolled": list(own.uncontrolled), "shrunk_from": own.shrunk_from or None}


def _api_fault(fault: ApiFault) -> str:
    which = f", number {fault.occurrence}" if fault.occurrence else ""
    answer = "" if fault.status is None else f", answered {fault.status}"
    body = "" if fault.body is None else f", {len(base64.b64decode(fault.body))} bytes"
    delay = f", after {fault.delay_ms} ms" if fault.delay_ms else ""
    return f"{fault.fault_type} for {fault.method} {fault.url}{which}{answer}{body}{delay}"


def _state_fault(fault: StateFault) -> str:
    return f"{fault.fault_type} in {fault.storage_area}" + (f": {fault.key}" if fault.key else "")


def _race(incident: Incident) -> dict[str, object] | None:
    if incident.race is None:
        return None
    answers = {str(lane.lane): "; ".join(f"{each.method} {each.url} {each.status}" for each in lane.responses)
               for lane in incident.lanes}
    return {"lanes": incident.race.lanes, "selector": incident.race.selector, "answers": answers}


def lacks(incident: Incident) -> tuple[str, ...]:
    """What the recording does not say, in sentences of ours, then in those of its reader."""
    return (*_unsaid(incident), *incident.notes)


def _unsaid(incident: Incident) -> Iterator[str]:
    own = incident.own
    if own is None or (own.target is None and own.network == "none"):
        yield "no command of the application: a replay needs --target-command"
    if own is None or not own.exact:
        yield "no fingerprint of the application's files"
    if own is None or not own.browser.version:
        yield "no version of the browser"
    if not incident.failures:
        yield "no failure of the application: there is nothing to reproduce"
    elif all(failure.step is None for failure in incident.failures):
        yield "not at which step a failure was seen"
    if incident.race is None and not incident.trace:
        yield "no steps"


def session_summary(incident: Incident) -> dict[str, object]:
    """Counts and states of a valid incident, no text that its author chose."""
    race = incident.race
    return {
        "valid": True, "summary_schema_version": SUMMARY_VERSION, "schema_version": FORMATS[incident.source],
        "kind": "session", "browser": incident.browser,
        "persona": incident.persona if incident.persona in _PERSONAS else None, "seed": incident.seed,
        "mode": "trace" if race is None else "race", "steps": len(incident.trace),
        "lanes": 0 if race is None else race.lanes, "api_faults": len(incident.api_faults),
        "state_faults": len(incident.state_faults), "failures": len(incident.failures),
        "grave_failures": sum(is_grave(failure.identity) for failure in incident.failures),
        "duration_seconds": incident.duration_seconds, "notes": len(incident.notes),
        "missing": "; ".join(_unsaid(incident)) or "nothing"}
