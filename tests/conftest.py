"""Hypothesis profiles by HYPOTHESIS_PROFILE: ``ci`` (default; the same examples every time) and ``long``.

All tests share one run store that is not the checkout's. The marker ``nested`` is given by ``nested/subset.txt``.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Started in the background by a shell, this process would ignore the interrupts that tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=100,
                          suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session", autouse=True)
def store_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """For this process and those it starts, unless a test says otherwise."""
    os.environ["RUNNER_STORE"] = str(tmp_path_factory.mktemp("store") / ".runner")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is run once more on a nested and on a remote engine."""
    here = Path(__file__).parent
    listed = set((here / "nested" / "subset.txt").read_text(encoding="utf-8").splitlines())
    for item in items:
        if f"{item.path.relative_to(here)}::{getattr(item, 'originalname', '')}" in listed:
            item.add_marker("nested")
