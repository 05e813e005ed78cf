"""Our own ``incident.json``: all keys of LOKI's, with the same names and meaning, and one more, ``runner``.

What LOKI's keys say without loss is read from them; ``runner`` (schema ``runner.incident/1``) holds the rest: failures
with identity, step, time and sample, faults with occurrence and whole body, lanes with the times of their clicks, and
how and on what the session ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from runner.browser.faults import ApiFault, StateFault
from runner.browser.job import Engine, Pace, Race
from runner.browser.outcome import Lane
from runner.browser.trace import StateFaultStep
from runner.errors import ReportError
from runner.incidents.model import Failure, Incident, OwnPart
from runner.incidents.outcomes import check_body
from runner.incidents.steps import read_step
from runner.incidents.strict import at_most, read_as
from runner.incidents.urls import check_url
from runner.sources.wording import wrong

KEY = "runner"
SCHEMA = "runner.incident/1"
_MOST = {"replay_trace": 20_000, "actions_taken": 40_000}
_MOST_PARTS = {"api_faults": 2_000, "state_faults": 2_000, "lanes": 64, "failures": 4_000, "notes": 4_000}


@dataclass(frozen=True, slots=True)
class _Shared:
    """The keys of LOKI's that are read again."""

    run_id: str
    timestamp: str
    target_url: str
    persona: str | None
    browser: Engine
    seed: int | None
    orientation: Literal["portrait", "landscape"]
    duration_seconds: float
    actions_taken: tuple[str, ...]
    replay_trace: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _Extra:
    """The value of the key ``runner``. ``device`` is as it was asked for; LOKI's key has it as it was found."""

    schema: str
    source: Literal["loki", "runner"]
    pace: Pace
    device: str | None
    race: Race | None
    api_faults: tuple[ApiFault, ...]
    state_faults: tuple[StateFault, ...]
    lanes: tuple[Lane, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    own: OwnPart | None


def is_own(data: Mapping[str, object]) -> bool:
    """Whether a parsed ``incident.json`` is ours."""
    return KEY in data


def from_own(data: Mapping[str, object]) -> Incident:
    """The incident in our own parsed ``incident.json``. Raises ReportError, which names the key."""
    part = data.get(KEY)
    if not isinstance(part, dict):
        raise wrong(KEY, part, "an object")
    if part.get("schema") != SCHEMA:
        raise wrong(f"{KEY}.schema", part.get("schema"), f'"{SCHEMA}"')
    for key, most in _MOST.items():
        at_most(data.get(key), key, most)
    for key, most in _MOST_PARTS.items():
        at_most(part.get(key), f"{KEY}.{key}", most)
    shared, extra = read_as(_Shared, dict(data)), read_as(_Extra, part, KEY)
    check_url(shared.target_url)
    trace = tuple(read_step(step, f"replay_trace[{index}]") for index, step in enumerate(shared.replay_trace))
    marks = sum(isinstance(step, StateFaultStep) for step in trace)
    if marks != len(extra.state_faults):
        raise ReportError(f"{KEY}.state_faults: has {len(extra.state_faults)} entries for {marks} state_fault steps")
    for index, fault in enumerate(extra.api_faults):
        check_body(fault, f"{KEY}.api_faults[{index}]")
    return Incident(
        source=extra.source, target_url=shared.target_url, run_id=shared.run_id, timestamp=shared.timestamp,
        persona=shared.persona, browser=shared.browser, seed=shared.seed, device=extra.device,
        landscape=shared.orientation == "landscape", duration_seconds=shared.duration_seconds, pace=extra.pace,
        trace=trace, api_faults=extra.api_faults, state_faults=extra.state_faults, race=extra.race, lanes=extra.lanes,
        failures=extra.failures, actions=shared.actions_taken, notes=extra.notes, own=extra.own)


def own_part(incident: Incident) -> dict[str, Any]:
    """The value of the key ``runner``. Identities bear their ``id`` and ``key`` too, for whoever reads the file."""
    extra = _Extra(SCHEMA, incident.source, incident.pace, incident.device, incident.race, incident.api_faults,
                   incident.state_faults, incident.lanes, incident.failures, incident.notes, incident.own)
    document = asdict(extra)
    for written, failure in zip(document["failures"], incident.failures, strict=True):
        written["identity"] |= {"id": failure.identity.id, "key": failure.identity.key}
    return document
