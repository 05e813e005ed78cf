"""Limits read back from a steward: each that does not hold is named, and refused unless the policy accepts it."""

from dataclasses import replace

import pytest

from runner.errors import LimitNotEnforced
from runner.payload.confinement import Confinement
from runner.payload.frames import PROTOCOL
from runner.payload.limits import HeldLimits
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.boundary import Boundary
from runner.sandbox.policy import Policy, load_policy
from runner.sandbox.spec import ContainerSpec, Limits, TmpfsMount
from runner.sandbox.steward import MountFacts, StewardHello

SHARED, OWN = "6.1.0", "4.4.0"
DEFAULT = load_policy("default")
WORK, TMP = DEFAULT.work, DEFAULT.tmp
FLAGS = ("rw", "nosuid", "nodev")
FACTS = BackendFacts("docker", kernel=SHARED, boundary="container (runc, shared kernel)",
                     enforced=("cpus", "memory", "pids", "seccomp", "swap"))
ASKED = ContainerSpec(
    name="steward", image_id="sha256:1", argv=("x",), user="10001:10001", workdir="/", hostname="steward",
    limits=Limits(memory=1 << 20, pids=16, cpus=2.0, nofile=64, file_size=1 << 20, shm=1 << 20), seccomp="{}",
    labels=(), tmpfs=(TmpfsMount("/tmp", TMP.size, TMP.inodes, executable=True),))
HELLO = StewardHello(
    PROTOCOL, MountFacts(1, 1, "tmpfs", FLAGS), MountFacts(TMP.size, TMP.inodes, "tmpfs", FLAGS),
    MountFacts(1 << 20, 0, "tmpfs", FLAGS), (MountFacts(WORK.size, WORK.inodes, "tmpfs", FLAGS),), "0" * 64,
    HeldLimits(1 << 20, 16, 2000, 64, 1 << 20, 0, 1, 0),
    Confinement(SHARED, "10001:10001", 0, no_new_privileges=True, read_only_root=True, interfaces=("lo", "sit0")))


def under(runtime: str, *accept: str) -> Policy:
    return DEFAULT.model_copy(update={"runtime": runtime, "accept_unenforced": accept})


def inside_gvisor(**limits: int) -> StewardHello:
    """No cgroup, no flags, and the engine's tmpfs by way of a file server."""
    shown = HELLO.limits._replace(**{"pids": None, "cpu_milli": None, "swap": None, **limits})
    return HELLO._replace(
        limits=shown, confinement=HELLO.confinement._replace(kernel=OWN),
        scratch=HELLO.scratch._replace(fstype="9p", options=("rw",)), shm=HELLO.shm._replace(options=("rw",)),
        volumes=(HELLO.volumes[0]._replace(fstype="9p", options=("rw",)),))


def proved(policy: Policy, hello: StewardHello, runtime: str | None = None) -> BackendFacts:
    boundary = Boundary(FACTS, policy)
    boundary.prove(replace(ASKED, runtime=runtime), hello)
    return boundary.facts


def limits(**values: int | None) -> StewardHello:
    return HELLO._replace(limits=HELLO.limits._replace(**values))


def confined(**values: object) -> StewardHello:
    return HELLO._replace(confinement=HELLO.confinement._replace(**values))


BROKEN = {
    "memory": limits(memory=2 << 20), "pids": limits(pids=17), "cpus": limits(cpu_milli=4000),
    "swap": limits(swap=4096),
    "nofile": limits(nofile=65), "file_size": limits(file_size=2 << 20), "core": limits(core=1),
    "seccomp": limits(seccomp=0), "capabilities": confined(capabilities=1 << 21),
    "no_new_privileges": confined(no_new_privileges=False), "read_only_root": confined(read_only_root=False),
    "user": confined(user="0:0"), "network": confined(interfaces=("lo", "eth0")), "runtime": confined(kernel=OWN),
    "shm": HELLO._replace(shm=HELLO.shm._replace(total_bytes=64 << 20)),
    "tmp": HELLO._replace(scratch=HELLO.scratch._replace(inodes=0)),
    "work": HELLO._replace(volumes=(HELLO.volumes[0]._replace(total_bytes=WORK.size + (2 << 20)),)),
}
MORE = {
    "memory that is not shown": ("memory", limits(memory=None)), "swap that is not shown": ("swap", limits(swap=None)),
    "processes that are not shown": ("pids", limits(pids=None)),
    "cores that are not shown": ("cpus", limits(cpu_milli=None)),
    "work without flags": ("work", HELLO._replace(volumes=(HELLO.volumes[0]._replace(options=("rw", "nodev")),))),
    "work on a disk": ("work", HELLO._replace(volumes=(HELLO.volumes[0]._replace(fstype="ext4"),))),
    "work without inodes": ("work", HELLO._replace(volumes=(HELLO.volumes[0]._replace(inodes=0),))),
    "the second volume": ("work", HELLO._replace(volumes=(HELLO.volumes[0], HELLO.volumes[0]._replace(inodes=0)))),
    "tmp too large": ("tmp", HELLO._replace(scratch=HELLO.scratch._replace(total_bytes=TMP.size + (2 << 20)))),
    "tmp with devices": ("tmp", HELLO._replace(scratch=HELLO.scratch._replace(options=("rw", "nosuid")))),
}


def test_what_holds_is_enforced():
    facts = proved(DEFAULT, HELLO)
    assert (facts.not_enforced, facts.boundary) == ((), "container (runc, shared kernel)")
    assert set(BROKEN) - {"runtime"} <= set(facts.enforced)


@pytest.mark.parametrize(("name", "hello"), [*BROKEN.items(), *MORE.values()], ids=[*BROKEN, *MORE])
def test_what_does_not_hold_is_named_and_refused(name: str, hello: StewardHello):
    boundary = Boundary(FACTS, DEFAULT)
    with pytest.raises(LimitNotEnforced, match=f"^{name} is not enforced: ") as refused:
        boundary.prove(ASKED, hello)
    assert (refused.value.exit_code, bool(refused.value.hint)) == (2, True)
    assert name in boundary.facts.not_enforced
    assert name not in boundary.facts.enforced


def test_what_the_policy_accepts_is_named_all_the_same():
    facts = proved(DEFAULT.model_copy(update={"accept_unenforced": ("tmp",)}), BROKEN["tmp"])
    assert (facts.not_enforced, "tmp" in facts.enforced) == (("tmp",), False)


def test_gvisor_with_the_profile_in_force():
    facts = proved(under("runsc"), inside_gvisor(), "runsc")
    assert (facts.boundary, facts.not_enforced) == ("container (runsc, user-space kernel, seccomp applied)", ())
    assert {"pids", "cpus", "memory", "seccomp", "tmp", "work"} <= set(facts.enforced)


def test_gvisor_without_the_profile_says_what_mends_it():
    boundary = Boundary(FACTS, under("runsc-kvm"))
    with pytest.raises(LimitNotEnforced, match=r"^seccomp is not enforced") as refused:
        boundary.prove(replace(ASKED, runtime="runsc-kvm"), inside_gvisor(seccomp=0))
    assert "add --oci-seccomp" in refused.value.hint
    assert boundary.facts.boundary == "container (runsc-kvm, user-space kernel, seccomp not applied)"


def test_gvisor_without_the_profile_where_a_policy_accepts_it():
    facts = proved(under("runsc", "seccomp"), inside_gvisor(seccomp=0), "runsc")
    assert (facts.not_enforced, facts.boundary) == (
        ("seccomp",), "container (runsc, user-space kernel, seccomp not applied)")


def test_no_policy_goes_without_the_profile_on_a_shared_kernel():
    with pytest.raises(LimitNotEnforced, match=r"^seccomp is not enforced"):
        proved(under("crun", "seccomp"), BROKEN["seccomp"], "crun")


def test_gvisor_without_a_cgroup_has_more_memory_than_was_asked_for():
    with pytest.raises(LimitNotEnforced, match=r"^memory"):
        proved(under("runsc"), inside_gvisor(memory=8 << 30), "runsc")


def test_another_program_under_gvisors_name_is_found_out():
    with pytest.raises(LimitNotEnforced, match=f"^runtime is not enforced: runsc runs on the kernel .* {SHARED}$"):
        proved(under("runsc"), HELLO, "runsc")


def test_another_runtime_may_share_the_kernel_or_not():
    assert proved(under("kata"), inside_gvisor(), "kata").boundary == (
        "container (kata, kernel of its own, seccomp applied)")
    assert proved(under("crun"), HELLO, "crun").boundary == "container (crun, shared kernel, seccomp applied)"


def test_until_something_ran_nothing_is_claimed():
    assert "not proved" in Boundary(FACTS, under("runsc")).facts.boundary
    assert Boundary(FACTS, DEFAULT).facts == FACTS
