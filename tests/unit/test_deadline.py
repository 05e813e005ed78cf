from __future__ import annotations

import dataclasses
import time

import pytest

from runner.sandbox.deadline import Deadline


def test_a_future_deadline_has_time_left_and_not_more_than_asked() -> None:
    deadline = Deadline.after(60)
    assert not deadline.expired
    assert 0 < deadline.remaining() <= 60


@pytest.mark.parametrize("seconds", [0, -1, -1e9])
def test_a_past_deadline_is_expired_and_never_negative(seconds: float) -> None:
    deadline = Deadline.after(seconds)
    assert deadline.expired
    assert deadline.remaining() == 0.0


def test_it_follows_the_monotonic_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    deadline = Deadline.after(5)
    now = 103.0
    assert deadline.remaining() == 2.0
    now = 105.0
    assert deadline.expired


def test_it_cannot_be_moved() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Deadline.after(1).at = 0.0  # type: ignore[misc]


def test_nan_is_no_deadline() -> None:
    with pytest.raises(ValueError, match="number of seconds"):
        Deadline.after(float("nan"))


def test_infinity_never_expires() -> None:
    assert not Deadline.after(float("inf")).expired
