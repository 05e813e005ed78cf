"""One steward and the work volumes of the runs it serves."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import docker

from runner.errors import ImageUnavailable, LimitNotEnforced, SeedMismatch, StewardLost
from runner.payload.fingerprint import Fingerprint
from runner.payload.limits import HeldLimits
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.docker.blueprint import Blueprint
from runner.sandbox.backends.docker.channel import StewardChannel
from runner.sandbox.backends.docker.container import Container
from runner.sandbox.backends.docker.engine import engine_errors, remove_volume
from runner.sandbox.backends.docker.render import volume_options
from runner.sandbox.cancel import Cancel
from runner.sandbox.steward import MountFacts, Steward, StewardHello

_REQUIRED_FLAGS = frozenset({"nosuid", "nodev"})
_SLACK = 1 << 20


class Group:
    """Holds the volumes of ``runs`` from creation to close; the steward gets ready in the background."""

    def __init__(self, api: docker.APIClient, blueprint: Blueprint, runs: range, sealed: SealedPayload,
                 cancel: Cancel) -> None:
        self.runs = runs
        self._api = api
        self._blueprint = blueprint
        self._sealed = sealed
        self._cancel = cancel
        self._create_volumes()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="steward")
        self._created: Future[Container] = self._pool.submit(self._create)
        self._ready: Future[Steward] = self._pool.submit(self._make_ready)

    @property
    def tools(self) -> str:
        """The volume that carries the init."""
        return self._blueprint.tools(self.runs.start)

    def wait_for_tools(self) -> None:
        """Return once the tools volume is filled: the engine does that when it creates the steward."""
        self._created.result()

    @property
    def sealed_fingerprint(self) -> Fingerprint:
        """What every fresh copy must show."""
        return self._sealed.fingerprint

    def slot(self, run: int) -> int:
        """The steward's number for the volume of ``run``."""
        return run - self.runs.start + 1

    def steward(self) -> Steward:
        """The steward, once it holds the sealed payload. Raises what made it fail."""
        return self._ready.result()

    def _create_volumes(self) -> None:
        owner, work = self._blueprint.owner, self._blueprint.plan.policy.work
        options = volume_options(work.size, work.inodes)
        with engine_errors("create the volumes"):
            for run in self.runs:
                self._api.create_volume(self._blueprint.volume(run), driver="local", driver_opts=options,
                                        labels=owner.labels("volume"))
            # A volume rather than a tmpfs mount: old runc gives the latter the mode of the image's directory.
            self._api.create_volume(self._blueprint.pristine(self.runs.start), driver="local",
                                    driver_opts=volume_options(*self._blueprint.pristine_cap),
                                    labels=owner.labels("volume"))
            self._api.create_volume(self.tools, driver="local", labels=owner.labels("tools"))

    def _create(self) -> Container:
        return Container(self._api, self._blueprint.steward(self.runs),
                         self._blueprint.plan.policy.accept_unenforced)

    def _make_ready(self) -> Steward:
        steward = Steward(StewardChannel(self._created.result().start(), self._cancel))
        self._prove(steward.hello())
        copied = steward.put(self._sealed)
        if copied != self._sealed.fingerprint:
            raise SeedMismatch("the steward's copy of the payload is not what was sealed",
                               hint="try again; if it repeats, the engine's storage is not to be trusted")
        return steward

    def _prove(self, hello: StewardHello) -> None:
        """Read every cap back: a limit that was asked for is not yet a limit that holds."""
        policy, image = self._blueprint.plan.policy, self._blueprint.steward_image
        wanted = dict(image.labels).get("io.sandbox-runner.init", "")
        if not wanted or hello.init_sha256 != wanted:
            raise ImageUnavailable("the init in the tools volume is not the one of the steward image",
                                   hint="`runner images build` makes it anew")
        if len(hello.volumes) != len(self.runs):
            raise StewardLost(f"the steward holds {len(hello.volumes)} volumes, not {len(self.runs)}")
        self._prove_limits(hello.limits)
        if "work" not in policy.accept_unenforced:
            for volume in hello.volumes:
                self._prove_volume(volume)

    def _prove_limits(self, held: HeldLimits) -> None:
        """The steward's own limits, made by the same render as a workload's: what holds for it holds for them."""
        asked = self._blueprint.steward(self.runs).limits
        wanted = {"memory": asked.memory, "pids": asked.pids, "cpu_milli": int(asked.cpus * 1000),
                  "nofile": asked.nofile, "file_size": asked.file_size, "core": 0}
        for name, limit in wanted.items():
            seen = getattr(held, name)
            short = "cpus" if name == "cpu_milli" else name
            if seen is not None and seen > limit and short not in self._blueprint.plan.policy.accept_unenforced:
                raise LimitNotEnforced(f"the engine was asked for a {short} limit of {limit}, {seen} holds",
                                       hint="`runner doctor` tells what this engine enforces")
        if held.seccomp == 0 and self._blueprint.plan.policy.runtime is None:
            raise LimitNotEnforced("the engine was given a seccomp profile, and another one or none is in force",
                                   hint="it must take the profile as JSON or, if it is podman, run on this host")

    def _prove_volume(self, volume: MountFacts) -> None:
        work = self._blueprint.plan.policy.work
        capped = volume.total_bytes <= work.size + _SLACK and 0 < volume.inodes <= work.inodes
        # gVisor shows the engine's tmpfs through its file server: the caps are the host's, the flags are not shown.
        shown_as = "tmpfs" if self._blueprint.plan.policy.runtime is None else "9p"
        if volume.fstype not in ("tmpfs", shown_as) or not capped:
            raise LimitNotEnforced(f"a work volume is not capped as asked: {volume.fstype}, "
                                   f"{volume.total_bytes} bytes, {volume.inodes} inodes",
                                   hint="this engine ignores tmpfs options; use another one")
        missing = _REQUIRED_FLAGS - set(volume.options)
        if missing and volume.fstype == "tmpfs":
            raise LimitNotEnforced(f"a work volume is mounted without {', '.join(sorted(missing))}",
                                   hint="this engine drops mount options; use another one")

    def dismiss(self) -> None:
        """Let the steward go: nothing needs it any more."""
        if self._created.done() and self._created.exception() is None:
            self._created.result().slip_leash()

    def close(self) -> None:
        """Remove the steward, then its volumes."""
        self.dismiss()
        self._pool.shutdown(wait=True)
        if self._created.exception() is None:
            self._created.result().discard()
        with engine_errors("remove the volumes"):
            for run in self.runs:
                remove_volume(self._api, self._blueprint.volume(run))
            remove_volume(self._api, self._blueprint.pristine(self.runs.start))
            remove_volume(self._api, self.tools)
