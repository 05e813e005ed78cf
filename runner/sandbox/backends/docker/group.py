"""One steward and the work volumes of the runs it serves."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import docker

from runner.errors import ImageUnavailable, SeedMismatch, StewardLost
from runner.payload.fingerprint import Fingerprint
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.docker.blueprint import Blueprint
from runner.sandbox.backends.docker.boundary import Boundary
from runner.sandbox.backends.docker.channel import StewardChannel
from runner.sandbox.backends.docker.container import Container
from runner.sandbox.backends.docker.engine import engine_errors, remove_volume
from runner.sandbox.cancel import Cancel
from runner.sandbox.steward import Steward, StewardHello


class Group:
    """Holds the volumes of ``runs`` from creation to close; the steward gets ready in the background."""

    def __init__(self, api: docker.APIClient, blueprint: Blueprint, runs: range, sealed: SealedPayload,
                 cancel: Cancel, boundary: Boundary) -> None:
        self.runs = runs
        self._api = api
        self._blueprint = blueprint
        self._sealed = sealed
        self._cancel = cancel
        self._boundary = boundary
        self._create_volumes()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="steward")
        self._created: Future[Container] = self._pool.submit(self._create)
        self._ready: Future[Steward] = self._pool.submit(self._make_ready)

    @property
    def tools(self) -> str:
        """The volume that carries the init."""
        return self._blueprint.tools(self.runs.start)

    def wait_for_tools(self) -> None:
        """Return once the tools volume is filled: when the steward is created, or started (the dialect's matter)."""
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
        volume = self._blueprint.dialect.volume
        options = volume(work.size, work.inodes)
        with engine_errors("create the volumes"):
            for run in self.runs:
                self._api.create_volume(self._blueprint.volume(run), driver="local", driver_opts=options,
                                        labels=owner.labels("volume"))
            # A volume rather than a tmpfs mount: old runc gives the latter the mode of the image's directory.
            self._api.create_volume(self._blueprint.pristine(self.runs.start), driver="local",
                                    driver_opts=volume(*self._blueprint.pristine_cap),
                                    labels=owner.labels("volume"))
            self._api.create_volume(self.tools, driver="local", labels=owner.labels("tools"))

    def _create(self) -> Container:
        container = Container(self._api, self._blueprint.steward(self.runs),
                              self._blueprint.plan.policy.accept_unenforced, self._blueprint.dialect)
        if self._blueprint.dialect.fills_at_start:
            try:
                container.start()
            except BaseException:
                container.discard()
                raise
        return container

    def _make_ready(self) -> Steward:
        container = self._created.result()
        steward = Steward(StewardChannel(container.attachment or container.start(), self._cancel))
        self._prove(steward.hello())
        copied = steward.put(self._sealed)
        if copied != self._sealed.fingerprint:
            raise SeedMismatch("the steward's copy of the payload is not what was sealed",
                               hint="try again; if it repeats, the engine's storage is not to be trusted")
        return steward

    def _prove(self, hello: StewardHello) -> None:
        """It is our init, these are our volumes, and every limit holds."""
        wanted = dict(self._blueprint.steward_image.labels).get("io.sandbox-runner.init", "")
        if not wanted or hello.init_sha256 != wanted:
            raise ImageUnavailable("the init in the tools volume is not the one of the steward image",
                                   hint="`runner images build` makes it anew")
        if len(hello.volumes) != len(self.runs):
            raise StewardLost(f"the steward holds {len(hello.volumes)} volumes, not {len(self.runs)}")
        self._boundary.prove(self._blueprint.steward(self.runs), hello)

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
