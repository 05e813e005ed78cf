"""The compose files: each is understood by docker-compose, and each brings a controller to its engine."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest
import yaml
from certificates import Certificates
from controller_image import PREFIX, ROOT
from engine_container import TLS_PORT, EngineContainer

from runner.images.cache import cache_dir

HERE = Path(__file__).parent
FILES = sorted((ROOT / "compose").glob("*.yaml"))


@dataclass(frozen=True)
class Project:
    """A compose project that is taken down, volumes and all."""

    files: tuple[Path, ...]
    variables: dict[str, str]
    name: str = field(default_factory=lambda: f"{PREFIX}-{secrets.token_hex(4)}")

    def __call__(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``docker-compose WORDS``."""
        files = [word for file in self.files for word in ("-f", str(file))]
        return subprocess.run(["docker-compose", "-p", self.name, *files, *words], capture_output=True, text=True,
                              env={**os.environ, **self.variables}, check=False)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """``runner WORDS`` in its service."""
        return self("run", "--rm", "-T", "controller", *words)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        down = self("down", "--volumes", "--timeout", "2")
        assert down.returncode == 0, down.stderr


@pytest.fixture
def variables(controller: str, place: Path) -> dict[str, str]:
    """What all three files ask for."""
    return {"RUNNER_IMAGE": controller, "CASE": str(place), "IMAGES": str(cache_dir())}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_it_is_understood(file: Path, tmp_path: Path) -> None:
    """Every variable reaches its place, and the controller never has more rights than it needs."""
    done = Project((file,), {"CASE": str(tmp_path), "ENGINE": "engine:1", "CERTIFICATES": "/certificates"})("config")
    assert done.returncode == 0, done.stderr
    controller = yaml.safe_load(done.stdout)["services"]["controller"]
    assert (controller["read_only"], controller["cap_drop"], controller["security_opt"]) == (
        True, ["ALL"], ["no-new-privileges:true"])
    assert {"privileged", "user", "pid", "ipc", "cap_add", "devices"} & set(controller) == set()
    assert f"{tmp_path}:/case:rw" in controller["volumes"]


@pytest.mark.parametrize(("file", "variable"), [("sibling-socket", "CASE"), ("nested-engine", "CASE"),
                                                ("remote-tls", "ENGINE"), ("remote-tls", "CERTIFICATES")])
def test_what_has_no_default_is_asked_for(file: str, variable: str) -> None:
    given = {"CASE": "/c", "ENGINE": "engine:1", "CERTIFICATES": "/certificates"}
    done = Project((ROOT / "compose" / f"{file}.yaml",), given | {variable: ""})("config")
    assert (done.returncode, "Missing mandatory value" in done.stderr) == (1, True), done.stderr


@pytest.fixture
def nested(engine_image: str, variables: dict[str, str]) -> Iterator[Project]:
    """With Debian's engine in place of the one that people pull."""
    with Project((ROOT / "compose" / "nested-engine.yaml", HERE / "engine-here.yaml"),
                 variables | {"ENGINE_IMAGE": engine_image}) as project:
        yield project


def test_a_nested_engine_comes_up_and_records(nested: Project, place: Path) -> None:
    """Images, a record and its replay, with an engine that has no network at all."""
    (place / "payload").mkdir()
    script = place / "payload" / "check.sh"
    script.write_text("#!/bin/sh\necho the ledger is off\nexit 3\n")
    script.chmod(0o755)
    for words in ("images build command steward",
                  "record --payload payload --command ./check.sh -o case.repro --runs 1",
                  "replay case.repro --yes --quiet"):
        done = nested.run(*words.split())
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("REPRODUCED: 1 of 1 runs matched")


def test_a_sibling_is_reached(variables: dict[str, str]) -> None:
    group = str(os.stat("/var/run/docker.sock").st_gid)
    with Project((ROOT / "compose" / "sibling-socket.yaml",), variables | {"DOCKER_GID": group}) as project:
        done = project.run("doctor")
    assert (done.returncode, "a socket of this machine" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_remote_engine_is_reached(engine: EngineContainer, certificates: Certificates,
                                    variables: dict[str, str]) -> None:
    """Through the network of the engine's own container, where it is 127.0.0.1."""
    given = variables | {"ENGINE": f"127.0.0.1:{TLS_PORT}", "CERTIFICATES": str(certificates.client),
                         "NETWORK": f"container:{engine.container.get_container_id()}"}
    with Project((ROOT / "compose" / "remote-tls.yaml",), given) as project:
        done = project.run("doctor")
    assert (done.returncode, "TLS that proves both sides" in done.stdout) == (0, True), done.stdout + done.stderr
