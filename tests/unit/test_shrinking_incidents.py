"""Candidates as incidents, and which failure a person means."""

from dataclasses import replace

import pytest
from shrinking import FAULT, incident_with

from runner.browser.outcome import Lane, StepRecord
from runner.browser.trace import Click
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.incidents import chosen_failures, incident_of, whole_of
from runner.errors import UsageError
from runner.incidents.identity import Identity
from runner.incidents.model import Failure, OwnPart

WHOLE = Candidate((Click("#pay", repeat=5), Click("#report")))
OTHER = Failure(Identity("http_error", url="http://127.0.0.1:8801/api/report", status=500), step=1, at_ms=250.0)
TAKEN = StepRecord(0, "done", 0.0, 1.0)
INCIDENT = replace(incident_with(WHOLE, FAULT, OTHER), actions=("Clicked",), seed=7, notes=("no stacks",),
                   own=OwnPart(payload="app", steps=(TAKEN,)))


def test_nothing_left_out_is_the_incident_itself():
    assert incident_of(INCIDENT, whole_of(INCIDENT)) == INCIDENT


def test_places_in_the_recorded_trace_go_with_it():
    shorter = incident_of(INCIDENT, Candidate((Click("#report"),)))
    assert shorter.trace == (Click("#report"),)
    assert shorter.failures == (FAULT, replace(OTHER, step=None, at_ms=None))
    assert shorter.own == OwnPart(payload="app")
    assert (shorter.actions, shorter.seed, shorter.notes) == ((), 7, ("no stacks",))


def test_a_race_has_as_many_lanes_as_are_left():
    race = replace(incident_with(Candidate(lanes=3), FAULT), lanes=tuple(Lane(lane, "#redeem") for lane in range(3)))
    assert whole_of(race) == Candidate(lanes=3)
    shorter = incident_of(race, Candidate(lanes=2))
    assert shorter.race is not None
    assert shorter.race.lanes == 2
    assert shorter.lanes == race.lanes  # what raced in the recording is what must race again


@pytest.mark.parametrize(("wanted", "meant"), [
    (None, (FAULT, OTHER)), (FAULT.identity.id, (FAULT,)), (OTHER.identity.id[:6].upper(), (OTHER,)),
    ("reading 'ITEMS'", (FAULT,)), ("http_error", (OTHER,)), ("r", (FAULT, OTHER))])
def test_a_failure_is_meant_by_its_id_or_any_part_of_its_name(wanted, meant):
    assert chosen_failures(INCIDENT, wanted) == meant


@pytest.mark.parametrize("wanted", ["", "no such", "\x1b[31m"])
def test_an_unknown_failure_is_told_with_those_that_there_are(wanted):
    with pytest.raises(UsageError, match="no recorded failure is meant") as refused:
        chosen_failures(INCIDENT, wanted)
    assert FAULT.identity.id in refused.value.hint
    assert "\x1b" not in refused.value.message


def test_an_incident_without_failures_has_nothing_to_shrink():
    with pytest.raises(UsageError, match="nothing to shrink"):
        chosen_failures(replace(INCIDENT, failures=()), None)
