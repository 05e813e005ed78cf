"""The kit itself: a backend that misbehaves must not pass."""

from __future__ import annotations

import pytest

from runner.errors import EngineUnavailable
from runner.sandbox.backends.base import Backend
from runner.sandbox.backends.conformance import (
    BEHAVIOURS,
    Behaviour,
    ConformanceFailure,
    Need,
    Outcome,
    Subject,
    check,
    examine,
)
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.exit import Cause, ExitStatus
from runner.sandbox.policy import load_policy

COMMANDS = [behaviour for behaviour in BEHAVIOURS if Need.COMMANDS in behaviour.needs]
LIAR = FakeRun(ExitStatus(Cause.EXITED, 99), b"wrong", b"wrong")


def subject(backend: Backend, *left: str) -> Subject:
    return Subject(backend=lambda _: backend, policy=load_policy("default"), leftovers=lambda: left)


def test_names_are_unique() -> None:
    names = [behaviour.name for behaviour in BEHAVIOURS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("behaviour", COMMANDS, ids=lambda behaviour: behaviour.name)
def test_no_behaviour_is_shown_by_a_backend_that_lies(behaviour: Behaviour) -> None:
    with pytest.raises(ConformanceFailure):
        check(behaviour, subject(FakeBackend([LIAR])))


def test_leftovers_are_a_failure() -> None:
    orderly = next(behaviour for behaviour in BEHAVIOURS if behaviour.needs == {Need.ORDER})
    with pytest.raises(ConformanceFailure, match="left behind: container 7"):
        check(orderly, subject(FakeBackend(), "container 7"))


def test_an_error_of_the_backend_is_a_finding() -> None:
    broken = FakeBackend(open_error=EngineUnavailable("no engine"))
    finding, = examine(COMMANDS[:1], subject(broken))
    assert (finding.outcome, finding.detail) == (Outcome.FAILED, "no engine")
