from __future__ import annotations

import os
import select

import pytest

from runner.sandbox.cancel import Cancel


@pytest.fixture
def cancel() -> Cancel:
    return Cancel()


def is_readable(cancel: Cancel) -> bool:
    return bool(select.select([cancel], [], [], 0)[0])


def test_it_is_seen_by_flag_and_descriptor_and_stays_so(cancel: Cancel) -> None:
    assert not cancel.thrown
    assert not is_readable(cancel)
    for _ in range(2):
        cancel.throw()
        assert cancel.thrown
        assert is_readable(cancel)
    cancel.close()


def test_the_flag_is_set_before_anybody_is_woken(cancel: Cancel, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(os, "eventfd_write", lambda _fd, _count: seen.append(cancel.thrown))
    cancel.throw()
    cancel.close()
    assert seen == [True]


def test_closing_twice_and_throwing_afterwards_are_harmless(cancel: Cancel) -> None:
    cancel.close()
    cancel.close()
    cancel.throw()
    assert cancel.thrown
