from __future__ import annotations

import pytest

from runner.sandbox.backends.base import Backend
from runner.sandbox.backends.conformance import BEHAVIOURS, Behaviour, Need, Outcome, Subject, check, examine
from runner.sandbox.backends.fake import FakeBackend, FakeRun
from runner.sandbox.policy import load_policy

SHOWS = frozenset({Need.ORDER, Need.CANCEL})


def scripted(name: str) -> Backend:
    return FakeBackend([FakeRun(until_cancelled=name.startswith("cancel"))])


@pytest.fixture
def subject() -> Subject:
    return Subject(backend=scripted, policy=load_policy("default"), leftovers=tuple, shows=SHOWS)


@pytest.mark.parametrize("behaviour", [one for one in BEHAVIOURS if one.needs <= SHOWS],
                         ids=lambda behaviour: behaviour.name)
def test_the_fake_backend_shows(behaviour: Behaviour, subject: Subject) -> None:
    check(behaviour, subject)


def test_it_declares_what_it_cannot_show(subject: Subject) -> None:
    findings = list(examine(BEHAVIOURS, subject))
    assert {finding.outcome for finding in findings} == {Outcome.SHOWN, Outcome.NOT_SHOWABLE}
    assert {finding.detail for finding in findings if finding.outcome is Outcome.NOT_SHOWABLE} == {"needs commands"}
