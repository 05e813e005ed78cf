"""One sealed payload on the engine, for all runs of a replay."""

from __future__ import annotations

import threading

import docker

from runner.payload.seal import SealedPayload
from runner.sandbox.backends.docker.blueprint import Blueprint
from runner.sandbox.backends.docker.group import Group
from runner.sandbox.backends.docker.run import DockerRun
from runner.sandbox.backends.docker.sweep import remove_session
from runner.sandbox.cancel import Cancel


class DockerSession:
    """Implements Session. Groups of runs share a steward; a policy may give each run one of its own."""

    def __init__(self, api: docker.APIClient, blueprint: Blueprint, sealed: SealedPayload) -> None:
        self._api = api
        self._blueprint = blueprint
        self._sealed = sealed
        self._cancel = Cancel()
        self._lock = threading.Lock()
        self._groups: dict[int, Group] = {}
        self._left: dict[int, int] = {}

    def prepare(self, index: int) -> DockerRun:
        """Make run ``index`` ready; its group is opened with its first run."""
        number, runs = self._runs_with(index)
        with self._lock:
            group = self._groups.get(number)
            if group is None:
                group = Group(self._api, self._blueprint, runs, self._sealed, self._cancel)
                self._groups[number] = group
                self._left[number] = len(runs)
        return DockerRun(self._api, self._blueprint, group, index, self._cancel, self._leave)

    def _runs_with(self, index: int) -> tuple[int, range]:
        plan = self._blueprint.plan
        size = plan.policy.runs_per_steward
        number = (index - 1) // size
        return number, range(number * size + 1, min(number * size + size, plan.runs) + 1)

    def _leave(self, index: int) -> bool:
        """A run needs its group no more; whether it was the last one, which then closes the group."""
        number, _ = self._runs_with(index)
        with self._lock:
            self._left[number] -= 1
            if self._left[number] == 0:
                del self._groups[number]
            return self._left[number] == 0

    def cancel(self) -> None:
        """End every run and every steward of this session; safe from any thread."""
        self._cancel.throw()

    def close(self) -> None:
        """Nothing of this session is left on the engine, whatever happened before."""
        self._cancel.throw()
        try:
            for group in self._groups.values():
                group.close()
        finally:
            remove_session(self._api, self._blueprint.owner.session)
            self._cancel.close()
