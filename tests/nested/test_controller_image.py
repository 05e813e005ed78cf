"""The controller's image: this program, Python, and nothing that somebody who took it over could use."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from controller_image import HOME, Controller

import runner

PACKAGERS = ("pip", "setuptools", "wheel", "ensurepip", "pkg_resources")


@pytest.fixture(scope="module")
def tree(host: docker.APIClient, controller: str) -> Iterator[list[tarfile.TarInfo]]:
    """Every entry of its file system."""
    container = host.create_container_from_config({"Image": controller})["Id"]
    try:
        with tarfile.open(fileobj=io.BytesIO(b"".join(host.export(container)))) as archive:
            yield archive.getmembers()
    finally:
        host.remove_container(container, v=True)


def test_it_says_the_version_of_this_program(controller: str, place: Path) -> None:
    said = Controller(controller, place)("--version")
    assert (said.code, said.out) == (0, f"runner, version {runner.__version__}\n")


def test_its_configuration(host: docker.APIClient, controller: str) -> None:
    image = host.inspect_image(controller)
    config = image["Config"]
    assert (config["User"], config["Entrypoint"], config["WorkingDir"]) == ("10002:10002", ["runner"], HOME)
    assert f"RUNNER_STORE={HOME}/.runner" in config["Env"]
    assert list(config["Volumes"]) == [f"{HOME}/.runner"]
    assert config["Labels"]["org.opencontainers.image.title"] == "sandbox-runner controller"
    assert len(image["RootFS"]["Layers"]) == 1, "what was removed is still below"


def test_no_program_but_python_and_ours(tree: list[tarfile.TarInfo]) -> None:
    folders = ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin", "opt/runner/bin")
    programs = {entry.name for entry in tree if os.path.dirname(entry.name) in folders and not entry.isdir()}
    assert {name for name in programs if not os.path.basename(name).startswith("python")} == {"opt/runner/bin/runner"}
    assert "opt/runner/bin/runner" in programs


def test_nothing_installs_packages(tree: list[tarfile.TarInfo]) -> None:
    names = {os.path.basename(entry.name) for entry in tree if entry.name.endswith(PACKAGERS)}
    assert {name for name in names if name in PACKAGERS} == set()
    assert {entry.name for entry in tree if entry.name.endswith(".whl")} == set()


def test_no_file_raises_rights_and_none_of_its_own_can_be_changed(tree: list[tarfile.TarInfo]) -> None:
    assert [entry.name for entry in tree if entry.mode & (stat.S_ISUID | stat.S_ISGID) and not entry.isdir()] == []
    writable = {entry.name for entry in tree if not entry.issym() and (entry.uid == 10002 or entry.mode & 0o002)}
    home = {"home/controller", "home/controller/.runner"}
    assert home <= writable <= home | {"tmp", "var/tmp", "var/lock", "run/lock"}
