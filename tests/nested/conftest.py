"""Engines in containers, and the controller in one. All of it is gone at the end: containers, volumes, images."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# The reaper of testcontainers is an image from a registry; here every container is ended by its own `with`.
os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"

import docker
import pytest
from certificates import Certificates, make_certificates
from controller_image import PREFIX, controller_image
from engine_container import LABEL, EngineContainer, engine_container
from own_images import loaded

from runner.sandbox.backends.docker.engine import connect


@pytest.fixture(scope="session")
def host() -> Iterator[docker.APIClient]:
    """The engine that the tests themselves use. When they are over, it holds what it held before."""
    api = connect()
    before = _everything(api)
    yield api
    left = _everything(api) - before
    api.close()
    assert left == set()


def _everything(api: docker.APIClient) -> set[str]:
    """Names of what these tests may leave on an engine; others may use it too."""
    containers = {name for entry in api.containers(all=True) for name in entry["Names"] if PREFIX in name}
    volumes = {entry["Name"] for entry in api.volumes(filters={"label": LABEL})["Volumes"] or ()}
    networks = {entry["Name"] for entry in api.networks() if PREFIX in entry["Name"]}
    images = {tag for entry in api.images() for tag in entry["RepoTags"] or () if PREFIX in tag}
    return containers | volumes | networks | images


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority, an engine's certificate and a client's; and another authority that nobody knows."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def engine_image(host: docker.APIClient) -> Iterator[str]:
    """The image of an engine."""
    with loaded(host, "engine") as image:
        yield image


@pytest.fixture(scope="session")
def engine(engine_image: str, certificates: Certificates) -> Iterator[EngineContainer]:
    """A nested engine with our images, reached by a socket and by TCP with TLS."""
    with engine_container(engine_image, certificates) as one:
        one.load_our_images()
        yield one


@pytest.fixture(scope="session")
def controller(host: docker.APIClient) -> Iterator[str]:
    """The controller's image, built by the project's own Dockerfile."""
    with loaded(host, "base") as base, controller_image(host, base) as tag:
        yield tag


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that is the controller's home of one test: it may write there, under whatever uid."""
    tmp_path.chmod(0o777)
    return tmp_path
