"""Attacks on browser sessions. They need the browser's image too, and an engine whose containers can share loopback: a
runtime with a kernel of its own, and a second engine without that image, run the other attacks only.
"""

from __future__ import annotations

import pytest
from harness import engine

from runner.errors import RunnerError
from runner.sandbox.backends.docker.images import local_image


@pytest.fixture(scope="session", autouse=True)
def browser_is_there() -> None:
    """Its image is, before the first attack."""
    try:
        local_image(engine(), "browser")
    except RunnerError as error:
        pytest.fail(f"the attacks on sessions cannot start: {error.message} ({error.hint})", pytrace=False)
