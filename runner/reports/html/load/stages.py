"""How far journeys came, and where they or their requests failed, as bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.reports.html.load.values import at, bar_length, inner, listed, parts, share, short_json, whole
from runner.reports.html.load.view import Bar, Chart

_MOST_JOURNEYS, _MOST_BARS, _MOST_NAMES = 20, 40, 20


def funnels(journeys: Mapping[str, Any] | None) -> Iterator[Chart]:
    """A funnel for each journey with stages: how many reached each."""
    for name, found in _shown(journeys):
        started = at(found, "started")
        rows = [("started", started), *((_name(stage, "name"), at(stage, "reached"))
                                        for stage in listed(inner(found, "stages")))]
        yield _chart(f"Funnel of {name}: how many journeys reached each stage", "reached",
                     ("Stage", "Journeys", "Of those that started"), rows, started)


def stalls(journeys: Mapping[str, Any] | None) -> Iterator[Chart]:
    """For each journey with stages: after which stage journeys stopped."""
    for name, found in _shown(journeys):
        rows = [(_after(_name(one, "after")), at(one, "count")) for one in listed(inner(found, "stalled"))]
        yield _chart(f"Where journeys of {name} failed: the last stage that they reached", "stopped",
                     ("Stopped", "Journeys", "Of those that started"), rows, at(found, "started"))


def failed_requests(metrics: Mapping[str, Any]) -> Iterator[Chart]:
    """Failed requests by operation, if any failed."""
    rows = []
    for name, found in parts(metrics.get("by_operation")).items():
        samples, rate = at(found, "samples"), at(found, "failed_rate")
        if samples and rate:
            rows.append((name, float(round(samples * rate)), samples))
    bars = tuple(_bar(name, failed, samples) for name, failed, samples in
                 sorted(rows, key=lambda row: (-row[1], row[0]))[:_MOST_BARS])
    if bars:
        yield Chart("Failed requests by operation, as k6 counts: any status of 400 or more, and no answer", "stopped",
                    ("Operation", "Failed", "Of its requests"), bars, max(0, len(rows) - _MOST_BARS))


def stage_notes(journeys: Mapping[str, Any] | None) -> Iterator[str]:
    """Stages that were told and that no manifest declares."""
    for name, found in _shown(journeys):
        unknown = [short_json(stage) for stage in listed(inner(found, "undeclared"))[:_MOST_NAMES]]
        if unknown:
            yield f"{name} told of stages that are not declared: {', '.join(unknown)}"


def _shown(journeys: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    return [(short_json(name), found) for name, found in list((journeys or {}).items())[:_MOST_JOURNEYS]]


def _chart(caption: str, kind: str, columns: tuple[str, str, str], rows: list[tuple[str, float | None]],
           started: float | None) -> Chart:
    bars = tuple(_bar(name, count, started) for name, count in rows[:_MOST_BARS])
    return Chart(caption, kind, columns, bars, max(0, len(rows) - _MOST_BARS))


def _bar(name: str, count: float | None, of: float | None) -> Bar:
    part = count / of if count is not None and of else None
    return Bar(name, whole(count), share(part), bar_length(part))


def _name(row: object, key: str) -> str:
    value = inner(row, key)
    return short_json(value) if isinstance(value, str) else "not named"


def _after(stage: str) -> str:
    return "before the first stage" if stage == "start" else f"after {stage}"
