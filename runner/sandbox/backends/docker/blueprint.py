"""What the steward and each workload are to be, from a plan: pure values, no engine."""

from __future__ import annotations

from dataclasses import dataclass

from runner.images.naming import IMAGE_LABEL
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import Plan
from runner.sandbox.backends.docker.dialect import DOCKER, Dialect
from runner.sandbox.backends.docker.labels import Ownership, Role
from runner.sandbox.image import ResolvedImage
from runner.sandbox.spec import ContainerSpec, Limits, TmpfsMount, VolumeMount

WORKSPACE = "/workspace"
TOOLS = "/.runner"
_STEWARD_TOOLS = "/opt/tools"
_STEWARD = ("/usr/bin/python3", "-I", "-B", "-S", "/opt/runner/steward.py")
_MIB = 1 << 20
_PAGE = 4096
_INODE = 2048
_STEWARD_BASE = 128 * _MIB
_IDLE_GRACE = 600
_WORLD = 0o1777


@dataclass(frozen=True, slots=True)
class Blueprint:
    """Renders specs for one session. ``seccomp`` is the profile as this engine's dialect wants it.

    With ``joined``, each workload shares the network of the workload of the same run in that other session, and with
    it the names that one knows. ``names``: whoever joins needs the engine's hosts file.
    """

    plan: Plan
    owner: Ownership
    steward_image: ResolvedImage
    seccomp: str
    footprint: int
    entries: int
    dialect: Dialect = DOCKER
    joined: Ownership | None = None
    names: bool = False

    def container(self, run: int) -> str:
        """Name of the workload's container of run ``run``."""
        return self.owner.name(_container(run))

    def volume(self, run: int) -> str:
        """Name of the work volume of run ``run``."""
        return self.owner.name(f"work-{run:04d}")

    def tools(self, first: int) -> str:
        """Name of the volume that carries the init, for the group of runs starting at ``first``."""
        return self.owner.name(f"tools-{first:04d}")

    def pristine(self, first: int) -> str:
        """Name of the volume that holds the sealed tree, for the group of runs starting at ``first``."""
        return self.owner.name(f"pristine-{first:04d}")

    @property
    def pristine_cap(self) -> tuple[int, int]:
        """Bytes and inodes of that volume: what one copy takes, and a little room."""
        return self.footprint + _MIB, self.entries + 64

    @property
    def lifetime(self) -> int:
        """Seconds after which a container's own dead-man timer ends it."""
        waiting = self.plan.ahead + 1
        return int(self.plan.timeout * (waiting + 1)) + _IDLE_GRACE

    @property
    def steward_lifetime(self) -> int:
        """Seconds after which the steward ends itself: all runs at their slowest, and some."""
        return int((self.plan.timeout + 60) * self.plan.runs) + _IDLE_GRACE

    @property
    def steward_memory(self) -> int:
        """Pages of a tmpfs are charged to whoever first writes them: pristine and each clone alive at once."""
        alive = 1 + self.plan.jobs + self.plan.ahead
        base = _STEWARD_BASE if self.plan.policy.runtime is None else 3 * _STEWARD_BASE
        return base + alive * self.footprint

    def steward(self, runs: range) -> ContainerSpec:
        """The trusted helper that holds the volumes of ``runs``."""
        policy = self.plan.policy
        volumes = tuple(VolumeMount(self.volume(run), f"/volumes/{slot}") for slot, run in enumerate(runs, 1))
        tools = VolumeMount(self.tools(runs.start), _STEWARD_TOOLS, read_only=True, copy_up=True)
        return ContainerSpec(
            name=self.owner.name(f"steward-{runs.start:04d}"), image_id=self.steward_image.id,
            argv=(*_STEWARD, "--lifetime", str(self.steward_lifetime), "--tools", _STEWARD_TOOLS),
            user=policy.user, workdir="/", hostname="steward",
            # A runtime such as gVisor counts its own threads too.
            limits=Limits(memory=self.steward_memory, pids=policy.pids if policy.runtime else 16, cpus=2.0, nofile=4096,
                          file_size=max(policy.file_size, policy.work.size), shm=_MIB),
            seccomp=self.seccomp, labels=_sorted(self.owner, "steward"),
            volumes=(VolumeMount(self.pristine(runs.start), "/pristine"), *volumes, tools),
            # Only to be read back: a workload's is made alike.
            tmpfs=(TmpfsMount("/tmp", policy.tmp.size, policy.tmp.inodes, executable=True),),  # noqa: S108
            runtime=policy.runtime)

    def workload(self, run: int, tools: str) -> ContainerSpec:
        """The untrusted command's container; it waits in our init until the nonce comes over stdin."""
        policy, image = self.plan.policy, self.plan.image
        assert image is not None
        declared = tuple(TmpfsMount(path, policy.tmp.size, policy.tmp.inodes)
                         for path in image.volumes if path.rstrip("/") not in (WORKSPACE, "/tmp"))  # noqa: S108
        return ContainerSpec(
            name=self.container(run), image_id=image.id,
            argv=(f"{TOOLS}/init", "--lifetime", str(self.lifetime), "--cwd", _cwd(self.plan.cwd), "--",
                  *self.plan.argv),
            user=policy.user, workdir="/", hostname="sandbox",
            limits=Limits(memory=policy.memory, pids=policy.pids, cpus=policy.cpus, nofile=policy.nofile,
                          file_size=policy.file_size, shm=policy.shm),
            seccomp=self.seccomp, labels=_sorted(self.owner, "workload"),
            env=tuple(sorted(policy.env.items())),
            volumes=(VolumeMount(self.volume(run), WORKSPACE), VolumeMount(tools, TOOLS, read_only=True)),
            tmpfs=(TmpfsMount("/tmp", policy.tmp.size, policy.tmp.inodes, executable=True), *declared),  # noqa: S108
            network=f"container:{self.joined.name(_container(run))}" if self.joined else self.plan.network,
            hosts_file=self.names or self.needs_names, runtime=policy.runtime)

    @property
    def needs_names(self) -> bool:
        """Our own images know localhost by themselves; others need the engine's hosts file, which costs a run 80 ms."""
        return self.plan.image is not None and IMAGE_LABEL not in dict(self.plan.image.labels)


def _container(run: int) -> str:
    return f"run-{run:04d}"


def footprint(sealed: SealedPayload) -> int:
    """Bytes that one copy of the payload takes in a tmpfs: whole pages, and the kernel's inodes."""
    pages = sum(-(-entry.size // _PAGE) for entry in sealed.manifest.entries)
    return pages * _PAGE + len(sealed.manifest.entries) * _INODE + 64 * _PAGE


def _cwd(relative: str) -> str:
    return WORKSPACE if relative in ("", ".") else f"{WORKSPACE}/{relative}"


def _sorted(owner: Ownership, role: Role) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(owner.labels(role).items()))
