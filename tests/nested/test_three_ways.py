"""The whole main job from the controller's container: a nested engine, a sibling's socket, TCP with mutual TLS.

No directory of the controller is ever looked up by the engine (row 1): what is a path here is none there.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from certificates import ENGINE_NAME, Certificates
from controller_image import PREFIX, ROOT, Controller
from engine_container import SOCKET, TLS_PORT, EngineContainer
from testcontainers.core.network import Network

COMMAND = "python3 check.py"
STORE = {"RUNNER_STORE": "/case/.runner"}


@pytest.fixture
def case(place: Path) -> Path:
    """A folder with a payload, as a checkout of the samples has it; its ledger is off."""
    shutil.copytree(ROOT / "docs" / "samples" / "ledger", place / "ledger")
    for path in (place / "ledger", *(place / "ledger").iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return place


@pytest.fixture
def nested(controller: str, engine: EngineContainer, case: Path) -> Controller:
    """Beside an engine in a container; they share a folder with its socket and nothing else."""
    return Controller(controller, case, {**STORE, "DOCKER_HOST": f"unix:///run/engine/{SOCKET}"},
                      {str(engine.sockets): "/run/engine"})


@pytest.fixture
def sibling(controller: str, case: Path) -> Controller:
    """On the engine that runs the controller itself, through its socket."""
    socket = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    return Controller(controller, case, STORE, {socket: "/var/run/docker.sock"},
                      {"group_add": [os.stat(socket).st_gid]})


@pytest.fixture
def remote(controller: str, engine: EngineContainer, certificates: Certificates, case: Path) -> Iterator[Controller]:
    """Over a network that both are on."""
    with Network(docker_network_kw={"labels": {"io.sandbox-runner.test": "nested"}}) as network:
        network.connect(engine.container.get_container_id(), [ENGINE_NAME])
        yield Controller(
            controller, case, {**STORE, "DOCKER_HOST": f"tcp://{ENGINE_NAME}:{TLS_PORT}", "DOCKER_TLS_VERIFY": "1",
                               "DOCKER_CERT_PATH": "/certificates"},
            {str(certificates.client): "/certificates"}, {"network": network.name})
        engine.container.get_docker_client().client.networks.get(network.name).disconnect(
            engine.container.get_container_id())


@pytest.fixture(params=[("nested", "unix"), ("sibling", "unix"), ("remote", "tcp+tls")], ids=lambda way: way[0])
def way(request: pytest.FixtureRequest) -> tuple[Controller, str]:
    name, reached = request.param
    return request.getfixturevalue(name), reached


def test_the_whole_main_job(way: tuple[Controller, str], engine: EngineContainer) -> None:
    run, reached = way
    built = run("images", "build", "command", "steward")
    assert (built.code, built.out.count("from the cache")) == (0, 2), built.err
    fit = run("doctor", "--json")
    assert (fit.code, fit.json["ok"]) == (0, True), fit.out

    recorded = run("record", "--payload", "ledger", "--command", COMMAND, "-o", "report.json")
    assert (recorded.code, recorded.out.split(":")[0]) == (0, "RECORDED"), recorded.err
    assert run("bundle", "pack", "report.json", "--payload", "ledger", "-o", "case.repro").code == 0
    replayed = run("replay", "case.repro", "--runs", "3", "--jobs", "2", "--yes", "--json", "--quiet")
    assert (replayed.code, replayed.json["verdict"], replayed.json["passes"]) == (0, "reproduced", 3), replayed.err
    assert (replayed.json["engine"]["reached"], replayed.json["drift"]) == (reached, [])
    assert {sample["volume_before"]["exact"] for sample in replayed.json["samples"]} == {
        replayed.json["payload_fingerprint"]["exact"]}

    for kind, sign in (("junit", "<testsuites"), ("sarif", '"2.1.0"'), ("html", "<!doctype html>"),
                       ("md", "reproduced"), ("in-toto", "in-toto")):
        exported = run("export", "latest", "--format", kind)
        assert (exported.code, sign.lower() in exported.out.lower()) == (0, True), exported.err
    assert engine.objects() == []


def test_a_fixed_payload_is_not_reproduced(nested: Controller, case: Path) -> None:
    """Exit code 1 comes through, and so does the payload as it is now, not as the engine's host might know it."""
    assert nested("record", "--payload", "ledger", "--command", COMMAND, "-o", "report.json", "--runs", "1").code == 0
    document = json.loads((case / "report.json").read_text())
    (case / "ledger" / "ledger.txt").write_text("42\n")
    fresh = nested("fingerprint", "ledger", "--json").json
    document["payload"] |= {name: fresh[name] for name in ("files", "bytes", "entries")}
    document["payload"]["fingerprint"] |= {name: fresh["fingerprint"][name] for name in ("exact", "content")}
    (case / "report.json").write_text(json.dumps(document))
    replayed = nested("replay", "report.json", "--payload", "ledger", "--yes", "--json", "--quiet")
    assert (replayed.code, replayed.json["verdict"]) == (1, "not_reproduced"), replayed.out + replayed.err


def test_images_that_are_not_at_hand_cannot_be_built_there(nested: Controller) -> None:
    """One clear line: the controller's image has no builder."""
    said = Controller(nested.image, nested.place, nested.environment | {"XDG_CACHE_HOME": "/case"}, nested.volumes)(
        "images", "build")
    assert (said.code, "mmdebstrap is not installed" in said.err) == (2, True), said.err
    assert "mount a cache that has them" in said.err


def test_a_controller_without_the_right_to_the_socket_is_told_so(sibling: Controller) -> None:
    """Not in the socket's group: one clear line."""
    outsider = Controller(sibling.image, sibling.place, sibling.environment, sibling.volumes)
    said = outsider("gc")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "Permission denied" in said.err


def test_evidence_belongs_to_the_controllers_user(nested: Controller, case: Path) -> None:
    assert nested("record", "--payload", "ledger", "--command", COMMAND, "-o", "report.json", "--runs", "1").code == 0
    status = os.stat(case / "report.json")
    assert (status.st_uid, stat.S_IMODE(status.st_mode) & 0o022) == (10002, 0)


def test_nothing_of_it_is_left(host: docker.APIClient, engine: EngineContainer) -> None:
    named = [name for entry in host.containers(all=True) for name in entry["Names"] if PREFIX in name]
    assert named == [f"/{engine.container.get_wrapped_container().name}"]
