"""What stands between a session's workloads and the host, read back before anything untrusted runs.

The steward is made by the same render, and runs under the same runtime, as the workloads: what holds for it holds
for them. A limit that was asked for is not yet a limit that holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from runner.errors import LimitNotEnforced
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.policy import Policy
from runner.sandbox.spec import ContainerSpec
from runner.sandbox.steward import MountFacts, StewardHello

_READ_BACK = frozenset({"capabilities", "core", "cpus", "file_size", "memory", "network", "no_new_privileges", "nofile",
                        "pids", "read_only_root", "seccomp", "shm", "swap", "tmp", "user", "work"})
_REQUIRED_FLAGS = frozenset({"nosuid", "nodev"})
_LOOPBACK = frozenset({"lo", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0",
                       "ip6gre0"})
"""What every new network namespace may have (the kernel's documentation, ``fb_tunnels_only_for_init_net``): down,
and without an address."""
_SLACK = 1 << 20
_DOCTOR = "`runner doctor` tells what this engine enforces"
_OTHER_ENGINE = "this engine ignores options of a tmpfs; use another one"


@dataclass(frozen=True, slots=True)
class Unheld:
    """A limit that was asked for and does not hold. ``name`` is the policy's word for it; no policy can accept one
    that is ``vital``.
    """

    name: str
    seen: str
    hint: str = _DOCTOR
    vital: bool = False


class Boundary:
    """Of one session. ``facts`` are the engine's own words until the first steward was looked at."""

    def __init__(self, facts: BackendFacts, policy: Policy) -> None:
        self._policy = policy
        self.facts = facts if policy.runtime is None else replace(
            facts, boundary=f"container ({policy.runtime}, not proved: nothing was run)")

    def prove(self, asked: ContainerSpec, hello: StewardHello) -> None:
        """Compare what a steward found with what was asked for. Raises LimitNotEnforced, naming the first limit that
        does not hold and that the policy does not accept to go without.
        """
        broken = tuple(unheld(asked, self._policy, hello, self.facts.kernel))
        self.facts = _proved(self.facts, self._policy, hello, {limit.name for limit in broken})
        for limit in broken:
            if limit.vital or limit.name not in self._policy.accept_unenforced:
                raise LimitNotEnforced(f"{limit.name} is not enforced: {limit.seen}", hint=limit.hint)


def unheld(asked: ContainerSpec, policy: Policy, hello: StewardHello, host_kernel: str) -> Iterator[Unheld]:
    """What does not hold, the most telling first. ``host_kernel`` is the release of the engine's own kernel."""
    shared = hello.confinement.kernel == host_kernel
    if is_gvisor(policy.runtime) and shared:
        yield Unheld("runtime", f"{policy.runtime} runs on the kernel of the engine's host, {host_kernel}",
                     "register gVisor's own program as the runtime")
    if policy.runtime is None and not shared:
        yield Unheld("runtime", f"the engine's default one brings a kernel of its own, {hello.confinement.kernel}",
                     "name it as `runtime` in a policy of yours, or use --policy strict")
    yield from _unconfined(asked, hello, shared=shared)
    yield from _limits(asked, hello, shared=shared)
    caps = policy.work.size, policy.work.inodes
    for volume in hello.volumes:
        yield from _mount("work", volume, *caps, shared=shared)
    for mount in asked.tmpfs:
        yield from _mount("tmp", hello.scratch, mount.size, mount.inodes, shared=shared)
    if hello.shm.total_bytes > asked.limits.shm:
        yield Unheld("shm", f"{asked.limits.shm} bytes were asked for, {hello.shm.total_bytes} are there")


def is_gvisor(runtime: str | None) -> bool:
    """By its name, ``runsc``, or one such as ``runsc-kvm``."""
    return runtime is not None and runtime.partition("-")[0] == "runsc"


def _unconfined(asked: ContainerSpec, hello: StewardHello, *, shared: bool) -> Iterator[Unheld]:
    held = hello.confinement
    if hello.limits.seccomp != 1:
        yield Unheld("seccomp", "a profile was given, and another one or none is in force",
                     "add --oci-seccomp to the arguments of the runtime" if is_gvisor(asked.runtime)
                     else "the engine must take the profile as JSON or, if it is podman, run on this host",
                     vital=shared)
    if held.capabilities != 0:
        yield Unheld("capabilities", f"{held.capabilities:#x} are left")
    if not held.no_new_privileges:
        yield Unheld("no_new_privileges", "set-id programs can raise privileges")
    if not held.read_only_root:
        yield Unheld("read_only_root", "the root file system can be written")
    if held.user != asked.user:
        yield Unheld("user", f"{asked.user} was asked for, {held.user} runs")
    others = set(held.interfaces) - _LOOPBACK
    if others:
        yield Unheld("network", f"there is more than loopback: {', '.join(sorted(others))}")


def _limits(asked: ContainerSpec, hello: StewardHello, *, shared: bool) -> Iterator[Unheld]:
    """What is not shown is not proved, unless another kernel hides it. gVisor shows no cgroup, yet its memory is the
    cgroup's limit: it is proved, and with it that runsc set the group up, of which ``pids`` and ``cpus`` are a part.
    """
    held, limits = hello.limits, asked.limits
    for name, limit, seen in (("memory", limits.memory, held.memory), ("swap", 0, held.swap),
                              ("pids", limits.pids, held.pids), ("cpus", int(limits.cpus * 1000), held.cpu_milli),
                              ("nofile", limits.nofile, held.nofile), ("file_size", limits.file_size, held.file_size),
                              ("core", 0, held.core)):
        if seen is None and shared:
            yield Unheld(name, f"{limit} was asked for, and nothing shows that it holds")
        elif seen is not None and seen > limit:
            yield Unheld(name, f"{limit} was asked for, {seen} holds")


def _mount(name: str, mount: MountFacts, size: int, inodes: int, *, shared: bool) -> Iterator[Unheld]:
    """A kernel of its own shows the engine's tmpfs as something else: the caps are the host's, and flags are not told;
    it has no devices but its own, and no set-id program there raises privileges.
    """
    capped = mount.total_bytes <= size + _SLACK and 0 < mount.inodes <= inodes
    if not capped or (shared and mount.fstype != "tmpfs"):
        yield Unheld(name, f"a {mount.fstype} of {mount.total_bytes} bytes and {mount.inodes} inodes is there instead "
                           f"of a tmpfs of {size} bytes and {inodes} inodes", _OTHER_ENGINE)
    missing = _REQUIRED_FLAGS - set(mount.options)
    if shared and missing:
        yield Unheld(name, f"it is mounted without {', '.join(sorted(missing))}", _OTHER_ENGINE)


def _proved(facts: BackendFacts, policy: Policy, hello: StewardHello, broken: set[str]) -> BackendFacts:
    missing = broken | set(facts.not_enforced)
    boundary = facts.boundary
    if policy.runtime is not None:
        shared = hello.confinement.kernel == facts.kernel
        own = "user-space kernel" if is_gvisor(policy.runtime) else "kernel of its own"
        filtered = "not applied" if "seccomp" in missing else "applied"
        boundary = f"container ({policy.runtime}, {'shared kernel' if shared else own}, seccomp {filtered})"
    return replace(facts, boundary=boundary, not_enforced=tuple(sorted(missing)),
                   enforced=tuple(sorted((_READ_BACK | set(facts.enforced)) - missing)))
