"""How far journeys came: for each stage that a manifest declares, how many distinct journeys said they reached it.

A stage belongs to the journey that declares it. One that several declare, or none where several have stages, belongs
to nobody: it is named, and counted nowhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from runner.oracles.load.model import Events
from runner.scenarios.model import Scenario

BEFORE_ANY = "start"
"""What journeys stalled after that reached no stage at all; the word is LiteTraffic's."""


@dataclass(frozen=True, slots=True)
class Funnel:
    """``journeys`` as in result.json, ``None`` where no stages are declared. ``undeclared`` counts events by stages
    that no manifest knows, ``unattributable`` by stages that several journeys declare. ``unfinished`` are journeys of
    which not one reached the last stage, with that stage.
    """

    journeys: dict[str, Any] | None = None
    undeclared: dict[str, int] = field(default_factory=dict)
    unattributable: dict[str, int] = field(default_factory=dict)
    unfinished: tuple[tuple[str, str], ...] = ()


def stage_funnel(scenario: Scenario, events: Events, iterations: int) -> Funnel:
    """Sort all stage events of a run. ``iterations`` is how many journeys k6 says ran."""
    # A name that two journeys share is one journey, as it is in the result; the last one's stages count.
    staged = {journey.name: journey.stages for journey in scenario.journeys if journey.stages}
    owners: dict[str, list[str]] = {}
    for name, stages in staged.items():
        for stage in stages:
            owners.setdefault(stage, []).append(name)
    reached: dict[str, dict[str, set[str]]] = {name: {} for name in staged}
    undeclared: Counter[str] = Counter()
    unattributable: Counter[str] = Counter()
    for event in events.events:
        if event.type != "stage" or event.logical_key is None:
            continue
        owner = owners.get(event.name, ())
        if len(owner) == 1:
            reached[owner[0]].setdefault(event.name, set()).add(event.logical_key)
        else:
            (unattributable if owner else undeclared)[event.name] += 1
    if not staged:
        return Funnel(None, dict(undeclared))
    # What no journey declares can be told to one journey only if only that has stages.
    loose = sorted(undeclared) if len(staged) == 1 else []
    alone = iterations if len(scenario.journeys) == 1 else 0
    journeys = {name: _funnel(stages, reached[name], alone, loose) for name, stages in staged.items()}
    unfinished = tuple((name, stages[-1]) for name, stages in staged.items() if not reached[name].get(stages[-1]))
    return Funnel(journeys, dict(undeclared), dict(unattributable), unfinished)


def _funnel(stages: tuple[str, ...], reached: dict[str, set[str]], iterations: int,
            undeclared: list[str]) -> dict[str, Any]:
    seen: set[str] = set().union(*reached.values())
    started = max(iterations, len(seen))
    sets = [reached.get(stage, set()) for stage in stages]
    stalled = [{"after": BEFORE_ANY, "count": max(0, started - len(sets[0]))}]
    stalled += [{"after": stage, "count": len(here - there)}
                for stage, here, there in zip(stages, sets, sets[1:], strict=False)]
    return {"started": started, "undeclared": undeclared, "stalled": stalled,
            "stages": [{"name": stage, "reached": len(keys)} for stage, keys in zip(stages, sets, strict=True)]}
