"""The kit on the Docker backend, with a real engine."""

from __future__ import annotations

from collections.abc import Iterator

import docker
import pytest
from docker_subject import subject_on

from runner.sandbox.backends.conformance import BEHAVIOURS, Behaviour, check
from runner.sandbox.backends.docker.engine import connect


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.APIClient]:
    api = connect()
    yield api
    api.close()


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_the_docker_backend_shows(behaviour: Behaviour, engine: docker.APIClient) -> None:
    check(behaviour, subject_on(engine))
