"""Engines of an ordinary user: what they cannot enforce is refused by name before anything runs.

Docker is kept from using control groups: whether a user may have some is up to the host. Podman gets none on version 1
of them, whatever it claims, and without root it sets no ulimits on any.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
import yaml
from other_engines import OtherEngine, rootless_docker, rootless_podman, with_images

from runner.sandbox.backends.docker.facts import ROOTLESS_DIFFERENCE
from runner.sandbox.policy import load_policy

GROUPS = ["cpus", "memory", "pids", "swap"]


@pytest.fixture(scope="module")
def of_docker() -> Iterator[OtherEngine]:
    with with_images(rootless_docker()) as engine:
        yield engine


@pytest.fixture(scope="module")
def of_podman() -> Iterator[OtherEngine]:
    with with_images(rootless_podman()) as engine:
        yield engine


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A folder with a payload and a report of it, recorded on the host's engine."""
    (tmp_path / "payload").mkdir()
    subprocess.run([sys.executable, "-m", "runner", "record", "--payload", "payload", "--command", "echo out; exit 3",
                    "--match", "out", "--runs", "1", "-o", "report.json"], cwd=tmp_path, check=True,
                   capture_output=True)
    return tmp_path


def replay(engine: OtherEngine, case: Path, *options: object) -> tuple[subprocess.CompletedProcess[str], dict]:
    """The finished command, and its evidence."""
    out = case / "run"
    done = engine.runner("replay", case / "report.json", "--payload", case / "payload", "--yes", "--out", out, *options)
    return done, json.loads((out / "result.json").read_text())


def accepting(case: Path, *limits: str) -> Path:
    """A policy file that accepts to go without these."""
    document = load_policy("default").document() | {"name": "careless", "accept_unenforced": list(limits)}
    (case / "careless.yaml").write_text(yaml.safe_dump(document))
    return case / "careless.yaml"


def left_on(engine: OtherEngine) -> list[object]:
    """Containers and volumes."""
    client: docker.APIClient = engine.client()
    try:
        return [*client.containers(all=True), *(client.volumes()["Volumes"] or [])]
    finally:
        client.close()


def test_docker_is_refused_by_name(of_docker: OtherEngine, case: Path) -> None:
    done, told = replay(of_docker, case)
    assert (done.returncode, told["verdict"], told["samples"]) == (2, "no_verdict", [])
    assert told["reasons"][0] == f"this engine does not enforce: {', '.join(GROUPS)}"
    assert (told["engine"]["product"], told["engine"]["rootless"]) == ("docker", True)
    assert told["engine"]["boundary"] == "container (runc, shared kernel, user namespace)"
    assert left_on(of_docker) == []


def test_docker_runs_for_a_policy_that_says_so_and_the_evidence_warns(of_docker: OtherEngine, case: Path) -> None:
    done, told = replay(of_docker, case, "--policy", accepting(case, *GROUPS))
    assert (done.returncode, told["verdict"]) == (0, "reproduced"), done.stderr
    assert told["engine"]["not_enforced"] == GROUPS
    assert {"nofile", "seccomp", "work", "tmp", "network"} <= set(told["engine"]["enforced"])
    assert told["warnings"] == [f"the policy careless accepts that this engine does not enforce: {', '.join(GROUPS)}"]
    assert told["engine"]["differences"] == [ROOTLESS_DIFFERENCE]
    assert left_on(of_docker) == []


def test_podman_is_refused_although_it_claims_to_enforce(of_podman: OtherEngine, case: Path) -> None:
    client = of_podman.client()
    assert client.info()["MemoryLimit"] is True
    client.close()
    done, told = replay(of_podman, case)
    assert (done.returncode, told["samples"]) == (2, [])
    missing = {"core", "file_size", "nofile"} | set(GROUPS if told["engine"]["cgroup"] == "1" else ())
    assert told["reasons"][0] == f"this engine does not enforce: {', '.join(sorted(missing))}"
    assert (told["engine"]["product"], told["engine"]["rootless"]) == ("podman", True)
    assert left_on(of_podman) == []


def test_podman_is_refused_whatever_a_policy_accepts(of_podman: OtherEngine, case: Path) -> None:
    """There is no word to go without ``core``."""
    done, told = replay(of_podman, case, "--policy", accepting(case, *GROUPS, "file_size", "nofile"))
    assert (done.returncode, told["samples"]) == (2, [])
    assert told["reasons"][0] == "this engine does not enforce: core"


@pytest.mark.parametrize("product", ["docker", "podman"])
def test_the_doctor_says_so(product: str, request: pytest.FixtureRequest) -> None:
    engine: OtherEngine = request.getfixturevalue(f"of_{product}")
    done = engine.runner("doctor", "--json")
    limits, = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "limits"]
    assert (done.returncode, limits["status"]) == (1, "fail")
    assert "engine that runs as root" in limits["fix"]
