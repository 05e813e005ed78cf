"""What an engine says of itself, as facts."""

import pytest

from runner.sandbox.backends.docker.facts import read_facts

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
