"""What an engine says of itself, as facts."""

import json
from pathlib import Path

import pytest

from runner.sandbox.backends.docker.facts import PODMAN_DIFFERENCES, ROOTLESS_DIFFERENCE, read_facts

INFO = {"ServerVersion": "20.10.24", "OSType": "linux", "Architecture": "x86_64", "MemTotal": 5, "CgroupVersion": "2",
        "MemoryLimit": True, "SwapLimit": True, "CpuCfsQuota": True, "PidsLimit": True,
        "SecurityOptions": ["name=seccomp,profile=default"], "Runtimes": {"runc": {}, "runsc": {}},
        "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]]}


def test_a_full_engine():
    facts = read_facts(INFO, "1.41")
    assert (facts.version, facts.api_version, facts.platform, facts.memory) == ("20.10.24", "1.41", "linux/amd64", 5)
    assert (facts.store, facts.cgroup, facts.runtimes) == ("containerd", "2", ("runc", "runsc"))
    assert (facts.not_enforced, facts.rootless, facts.userns_remap) == ((), False, False)


@pytest.mark.parametrize(("flag", "limit"), [("MemoryLimit", "memory"), ("SwapLimit", "swap"), ("CpuCfsQuota", "cpus"),
                                             ("PidsLimit", "pids")])
def test_a_limit_that_is_not_enforced_is_named(flag, limit):
    assert read_facts(INFO | {flag: False}, "1.41").not_enforced == (limit,)


def test_no_seccomp_is_named():
    assert read_facts(INFO | {"SecurityOptions": []}, "1.41").not_enforced == ("seccomp",)


def test_rootless_and_remapped():
    facts = read_facts(INFO | {"SecurityOptions": ["name=seccomp", "name=rootless", "name=userns"]}, "1.41")
    assert (facts.rootless, facts.userns_remap) == (True, True)


def test_an_engine_that_says_nothing_enforces_nothing():
    assert set(read_facts({}, "").not_enforced) == {"memory", "swap", "cpus", "pids", "seccomp"}


ENGINES = Path(__file__).resolve().parent.parent / "data" / "engines"
PLAIN, NAMESPACE = "container (runc, shared kernel)", "container (runc, shared kernel, user namespace)"
GROUPS = ("cpus", "memory", "pids", "swap")


@pytest.mark.parametrize(("name", "product", "rootless", "remapped", "boundary", "missing"), [
    ("docker", "docker", False, False, PLAIN, ()),
    ("docker-userns", "docker", False, True, NAMESPACE, ()),
    ("docker-rootless", "docker", True, False, NAMESPACE, GROUPS),
    ("podman", "podman", False, False, PLAIN, ()),
    ("podman-rootless", "podman", True, False, NAMESPACE, tuple(sorted((*GROUPS, "core", "file_size", "nofile")))),
])
def test_captured_documents(name, product, rootless, remapped, boundary, missing):
    """What five real engines answered to ``GET /info``, without what tells of their host."""
    facts = read_facts(json.loads((ENGINES / f"{name}.json").read_text()), "1.41")
    assert (facts.product, facts.rootless, facts.userns_remap) == (product, rootless, remapped)
    assert (facts.boundary, facts.not_enforced, facts.platform) == (boundary, missing, "linux/amd64")
    assert set(facts.enforced) & set(missing) == set()


def test_differences_are_those_of_the_product():
    told = {path.stem: read_facts(json.loads(path.read_text()), "1.41").differences for path in ENGINES.iterdir()}
    assert (told["docker"], told["docker-userns"]) == ((), ())
    assert told["docker-rootless"] == (ROOTLESS_DIFFERENCE,)
    assert told["podman"] == PODMAN_DIFFERENCES
    assert told["podman-rootless"] == (*PODMAN_DIFFERENCES, ROOTLESS_DIFFERENCE)


def test_podman_offers_no_choice_of_runtime():
    """It lists runsc whether or not it is installed, and ignores a request for it."""
    document = json.loads((ENGINES / "podman.json").read_text())
    assert "runsc" in document["Runtimes"]
    assert read_facts(document, "1.41").runtimes == ()


@pytest.mark.parametrize(("default", "boundary"), [
    ("io.containerd.runc.v2", PLAIN), ("crun", "container (crun, shared kernel)"), ("", PLAIN)])
def test_the_boundary_names_the_default_runtime(default, boundary):
    assert read_facts(INFO | {"DefaultRuntime": default}, "1.41").boundary == boundary


def test_a_rootless_podman_on_new_control_groups_is_believed_until_it_is_proved():
    document = json.loads((ENGINES / "podman-rootless.json").read_text()) | {"CgroupVersion": "2"}
    assert read_facts(document, "1.41").not_enforced == ("core", "file_size", "nofile")
