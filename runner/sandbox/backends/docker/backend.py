"""The Docker backend itself: facts, image, admission, session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import docker

from runner.errors import Interrupted, LimitNotEnforced, SetupError
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import CLEANUP_INCOMPLETE, BackendFacts, PairTimes, Plan
from runner.sandbox.backends.docker.blueprint import Blueprint, footprint
from runner.sandbox.backends.docker.boundary import Boundary
from runner.sandbox.backends.docker.dialect import dialect_of
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.facts import probe_engine
from runner.sandbox.backends.docker.images import find_image, local_image
from runner.sandbox.backends.docker.labels import Ownership
from runner.sandbox.backends.docker.pair import PairSession
from runner.sandbox.backends.docker.session import DockerSession
from runner.sandbox.backends.docker.sweep import sweep
from runner.sandbox.image import ImagePin, ResolvedImage
from runner.sandbox.policy import Policy

_EXPIRY_MARGIN = 3600.0
_HOST_RESERVE = 256 << 20


class DockerBackend:
    """Implements Backend over the engine that the environment names."""

    name: Final = "docker"

    def __init__(self, api: docker.APIClient | None = None) -> None:
        self._api = api if api is not None else connect()
        self._facts: BackendFacts | None = None
        self._steward: ResolvedImage | None = None

    def probe(self) -> BackendFacts:
        """Ask the engine once. Raises EngineUnavailable."""
        if self._facts is None:
            self._facts = probe_engine(self._api)
        return self._facts

    def resolve_image(self, wanted: ImagePin | str | None) -> ResolvedImage:
        """By ID for a pin, by name for a person's choice, our command image for neither. Never pulls.

        The steward's image is looked up too, so that a missing one is told before anything is done.
        """
        self._steward_image()
        if wanted is None:
            return local_image(self._api, "command", platform=self.probe().platform)
        return find_image(self._api, wanted, platform=self.probe().platform)

    def own_image(self, name: str) -> ResolvedImage:
        """One of our own images, as its recipe now stands. Raises ImageUnavailable."""
        return local_image(self._api, name, platform=self.probe().platform)

    def _steward_image(self) -> ResolvedImage:
        if self._steward is None:
            self._steward = local_image(self._api, "steward", platform=self.probe().platform)
        return self._steward

    @contextmanager
    def open(self, plan: Plan, sealed: SealedPayload) -> Iterator[DockerSession]:
        """Sweep, admit, open. Raises LimitNotEnforced, ImageUnavailable, EngineUnavailable."""
        sweep(self._api)
        blueprint = self._blueprint(plan, sealed)
        self._admit(blueprint)
        with self._opened(blueprint, sealed) as session:
            yield session

    @contextmanager
    def open_pair(self, target: Plan, payload: SealedPayload, driver: Plan, job: SealedPayload,
                  times: PairTimes) -> Iterator[PairSession]:
        """An application with its payload, and a driver with its job, for the same runs. Raises as :meth:`open`."""
        sweep(self._api)
        targets = self._blueprint(target, payload)
        drivers = replace(self._blueprint(driver, job), names=targets.needs_names)
        targets = replace(targets, joined=drivers.owner)
        self._admit(targets, drivers)
        with self._opened(drivers, job) as session, self._opened(targets, payload) as beside:
            yield PairSession(beside, session, times)

    def _blueprint(self, plan: Plan, sealed: SealedPayload) -> Blueprint:
        facts = self.probe()
        self._refuse_unenforced(plan.policy, facts)
        dialect = dialect_of(facts.product, plan.policy.runtime)
        blueprint = Blueprint(plan=plan, owner=Ownership(lifetime=0.0), seccomp=dialect.profile(plan.policy.seccomp),
                              dialect=dialect, steward_image=self._steward_image(),
                              footprint=footprint(sealed), entries=len(sealed.manifest.entries))
        return replace(blueprint, owner=Ownership(blueprint.steward_lifetime + _EXPIRY_MARGIN))

    @contextmanager
    def _opened(self, blueprint: Blueprint, sealed: SealedPayload) -> Iterator[DockerSession]:
        session = DockerSession(self._api, blueprint, sealed, Boundary(self.probe(), blueprint.plan.policy))
        try:
            try:
                yield session
            except BaseException as error:
                _close_after(error, session)
                raise
            session.close()
        except Interrupted as interrupt:
            _close_after(interrupt, session)  # it may have hit the closing itself; there is never a second one
            raise

    def _refuse_unenforced(self, policy: Policy, facts: BackendFacts) -> None:
        if policy.runtime is not None and policy.runtime not in facts.runtimes:
            raise LimitNotEnforced(f"the policy {policy.name} needs the runtime {policy.runtime}, the engine has "
                                   f"{', '.join(facts.runtimes) or 'none that a policy could choose'}",
                                   hint=f"register {policy.runtime} with the engine, or use another policy")
        missing = [name for name in facts.not_enforced if name not in policy.accept_unenforced]
        if missing:
            raise LimitNotEnforced(f"this engine does not enforce: {', '.join(missing)}",
                                   hint="use another engine (`runner doctor` tells why); at your own risk a policy "
                                        "may name most of them in accept_unenforced")

    def _admit(self, *blueprints: Blueprint) -> None:
        """Room for one copy; and one host budget for all runs at once: the pages of a full volume outlive the
        container that wrote them.
        """
        total, needed, jobs = self.probe().memory, _HOST_RESERVE, 1
        for blueprint in blueprints:
            policy, jobs = blueprint.plan.policy, blueprint.plan.jobs
            if blueprint.footprint > policy.work.size or blueprint.entries >= policy.work.inodes:
                raise LimitNotEnforced(f"one copy of the payload takes {blueprint.footprint} bytes and "
                                       f"{blueprint.entries} inodes, the work volume has {policy.work.size} and "
                                       f"{policy.work.inodes}", hint="use a policy with a larger work volume")
            needed += blueprint.steward_memory + jobs * policy.memory
        if needed > total:
            raise LimitNotEnforced(f"{jobs} runs at once may need {needed >> 20} MiB, the engine's host has "
                                   f"{total >> 20} MiB", hint="lower --jobs, or use a smaller policy")


def _close_after(error: BaseException, session: DockerSession) -> None:
    """The first fault is what counts; what cannot be removed now is labelled, and swept later."""
    try:
        session.close()
    except SetupError:
        error.add_note(CLEANUP_INCOMPLETE)
