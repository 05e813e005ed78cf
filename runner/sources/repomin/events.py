"""``events``: the accepted mutations, with what the oracle said of each."""

from __future__ import annotations

from runner.sources.repomin.fields import NOT_NEGATIVE, PROBABILITY, Fields, same_rate

_FAMILY = ("candidate_family_index", "candidate_confidence", "candidate_alpha")


def check_events(top: Fields) -> None:
    """Check every event."""
    for event in top.objects("events"):
        _check(event)


def _check(event: Fields) -> None:
    event.text("phase")
    event.text("description")
    event.number("duration_seconds", NOT_NEGATIVE)
    runs, passes = event.integer("oracle_runs", 0), event.integer("oracle_passes", 0)
    if passes > runs:
        raise event.bad("oracle_passes", "at most oracle_runs")
    if event.given("oracle_rate"):
        rate = event.number("oracle_rate", PROBABILITY)
        if runs == 0 or not same_rate(rate, passes, runs):
            raise event.bad("oracle_rate", "oracle_passes / oracle_runs, or none without runs")
    for key in ("oracle_lower_bound", "oracle_anytime_lower_bound"):
        if event.given(key):
            event.number(key, PROBABILITY)
    if event.has("oracle_early_acceptance"):
        event.flag("oracle_early_acceptance")
    _check_family(event)


def _check_family(event: Fields) -> None:
    given = [key for key in _FAMILY if event.given(key)]
    if not given:
        return
    for key in _FAMILY:
        if key not in given:
            raise event.bad(key, f"a value, because {given[0]} has one")
    event.integer("candidate_family_index", 0)
    event.number("candidate_confidence", PROBABILITY)
    event.number("candidate_alpha", PROBABILITY)
