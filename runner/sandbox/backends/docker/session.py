"""One sealed payload on the engine, for all runs of a replay."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import docker

from runner.errors import SetupError
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.blueprint import Blueprint
from runner.sandbox.backends.docker.boundary import Boundary
from runner.sandbox.backends.docker.group import Group
from runner.sandbox.backends.docker.run import DockerRun
from runner.sandbox.backends.docker.sweep import remove_session
from runner.sandbox.cancel import Cancel


class DockerSession:
    """Implements Session. Groups of runs share a steward; a policy may give each run one of its own."""

    def __init__(self, api: docker.APIClient, blueprint: Blueprint, sealed: SealedPayload, boundary: Boundary) -> None:
        self._api = api
        self._boundary = boundary
        self._blueprint = blueprint
        self._sealed = sealed
        self._cancel = Cancel()
        self._lock = threading.Lock()
        self._idle = threading.Condition()
        self._preparing = 0
        self._closing = self._closed = False
        self._groups: dict[int, Group] = {}
        self._left: dict[int, int] = {}
        self._runs: dict[int, DockerRun] = {}

    def prepare(self, index: int) -> DockerRun:
        """Make run ``index`` ready; its group is opened with its first run."""
        with self.preparing():
            return self.seed(self.start(index))

    def start(self, index: int) -> DockerRun:
        """Start the container of run ``index``, which waits; its volume is still empty."""
        return DockerRun(self._api, self._blueprint, self.open_group(index), index, self._cancel, self._leave)

    def open_group(self, index: int) -> Group:
        """The group of run ``index``; its first run opens it, and it gets ready in the background."""
        number, runs = self._runs_with(index)
        with self._lock:
            group = self._groups.get(number)
            if group is None:
                group = Group(self._api, self._blueprint, runs, self._sealed, self._cancel, self._boundary)
                self._groups[number] = group
                self._left[number] = len(runs)
            return group

    def seed(self, run: DockerRun) -> DockerRun:
        """Give a started run its copy of the payload; a run that cannot have one is removed. Raises SeedMismatch."""
        try:
            run.seed()
        except BaseException:
            run.remove()
            raise
        with self._lock:
            self._runs[run.index] = run
        return run

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Whoever makes things on the engine is waited for before they are removed. An interrupted caller may no
        longer know the thread that it has just started.
        """
        with self._idle:
            if self._closing:
                raise SetupError("the session is being closed")
            self._preparing += 1
        try:
            yield
        finally:
            with self._idle:
                self._preparing -= 1
                self._idle.notify_all()

    def _runs_with(self, index: int) -> tuple[int, range]:
        plan = self._blueprint.plan
        size = plan.policy.runs_per_steward
        number = (index - 1) // size
        return number, range(number * size + 1, min(number * size + size, plan.runs) + 1)

    def _leave(self, index: int) -> bool:
        """A run needs its group no more; whether it was the last one, which then closes the group."""
        number, _ = self._runs_with(index)
        with self._lock:
            self._runs.pop(index, None)
            self._left[number] -= 1
            if self._left[number] == 0:
                del self._groups[number]
            return self._left[number] == 0

    def facts(self) -> BackendFacts:
        """The engine's, with what the stewards proved so far."""
        return self._boundary.facts

    def cancel(self) -> None:
        """End every run and every steward of this session; safe from any thread."""
        self._cancel.throw()

    def close(self) -> None:
        """Nothing of this session is left on the engine, whatever happened before. Interrupted, it can be called
        again; once it came to its end, further calls do nothing.
        """
        if self._closed:
            return
        self._cancel.throw()
        with self._idle:
            self._closing = True
            self._idle.wait_for(lambda: self._preparing == 0)
        try:
            for run in list(self._runs.values()):
                if not run.busy:  # else its own thread discards it
                    run.discard()
            for group in list(self._groups.values()):
                group.close()
        finally:
            remove_session(self._api, self._blueprint.owner.session)
        self._closed = True
        self._cancel.close()
