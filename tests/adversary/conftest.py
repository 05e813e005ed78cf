"""The attacks need a real engine with our images; without them they fail, never skip."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import SESSIONS, abandoned, engine, of_session
from waiting import eventually

from runner.errors import RunnerError
from runner.sandbox.backends.docker.images import local_image


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """The images are there before the first attack; after the last one no container and no volume is."""
    try:
        for name in ("command", "steward"):
            local_image(engine(), name)
    except RunnerError as error:
        pytest.fail(f"the adversary suite cannot start: {error.message} ({error.hint})", pytrace=False)
    at_start = set(abandoned())
    yield
    # Others may use the same engine; their sessions live, or go once they are swept.
    eventually(lambda: not set(abandoned()) - at_start, "containers or volumes without an owner stay on the engine")
    assert [mark for mark in SESSIONS if of_session(mark)] == []
    engine().close()
