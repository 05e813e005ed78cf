"""The kit and the attacks on a Docker daemon that gives its containers a user namespace (``--userns-remap``)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from docker_subject import subject_on
from other_engines import SUBORDINATE, OtherEngine, remapped_docker, with_images

from runner.controller.bounds import seal_limits
from runner.payload.seal import seal
from runner.sandbox.backends.conformance import BEHAVIOURS, Behaviour, check
from runner.sandbox.backends.conformance.kit import Stage
from runner.sandbox.backends.docker.facts import probe_engine

ATTACKS = Path(__file__).parents[1] / "adversary"


@pytest.fixture(scope="module")
def engine() -> Iterator[OtherEngine]:
    with with_images(remapped_docker()) as one:
        yield one


@pytest.fixture(scope="module")
def api(engine: OtherEngine) -> Iterator[docker.APIClient]:
    client = engine.client()
    yield client
    client.close()


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda behaviour: behaviour.name)
def test_a_remapped_engine_shows(behaviour: Behaviour, api: docker.APIClient) -> None:
    check(behaviour, subject_on(api))


def test_the_namespace_is_named_and_is_there(api: docker.APIClient, tmp_path: Path) -> None:
    """Root inside would be an ordinary user of the host."""
    facts = probe_engine(api)
    assert (facts.product, facts.userns_remap, facts.rootless) == ("docker", True, False)
    assert (facts.boundary, facts.not_enforced) == ("container (runc, shared kernel, user namespace)", ())
    subject = subject_on(api)
    (tmp_path / "payload").mkdir()
    sealed = seal(tmp_path / "payload", seal_limits(subject.policy))
    said = Stage(subject, subject.backend(""), sealed).run(("cat", "/proc/self/uid_map"))
    assert said.stdout.kept.split() == [b"0", str(SUBORDINATE).encode(), b"65536"]


def test_the_attacks_come_out_as_without_one(engine: OtherEngine) -> None:
    """The whole adversary suite but its browser sessions once more; nothing in it is declared to differ here."""
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", ATTACKS,
                           f"--ignore={ATTACKS / 'sessions'}"], env=engine.env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20_000:]
