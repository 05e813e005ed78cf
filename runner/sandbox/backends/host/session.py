"""One sealed payload on the host: a private directory, and a fresh copy in it for each run."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from runner.errors import SetupError
from runner.evidence.leftovers import HOST_PREFIX, hold
from runner.payload.copy import wipe
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.backends.host.environment import host_environment
from runner.sandbox.backends.host.run import HostRun, Shared
from runner.sandbox.backends.host.worktree import WorkTree
from runner.sandbox.cancel import Cancel


class HostSession:
    """Implements Session. Layout: ``TEMP/run-0001/NAME``, where NAME is the plan's working copy."""

    def __init__(self, plan: Plan, sealed: SealedPayload, temp_root: str | None, caller: Mapping[str, str], *,
                 inherit_env: bool, facts: BackendFacts) -> None:
        self._facts = facts
        self._plan = plan
        self._sealed = sealed
        self._cancel = Cancel()
        env = host_environment(caller, plan.policy.env, plan.env, inherit=inherit_env)
        self._shared = Shared(plan, env, self._cancel, self._busy)
        self._idle = threading.Condition()
        self._executing = 0
        try:
            self._path = os.path.realpath(tempfile.mkdtemp(prefix=HOST_PREFIX, dir=temp_root))
            self._root_fd = hold(self._path)
        except OSError as error:
            self._cancel.close()
            raise SetupError(f"no private directory for host runs: {error.strerror}") from error

    def prepare(self, index: int) -> HostRun:
        """Make the fresh copy of run ``index``. Raises SeedMismatch, PayloadChanged, SetupError."""
        tree = WorkTree(index, self._plan, self._sealed, self._path, self._root_fd)
        return HostRun(index, tree, self._shared)

    @contextmanager
    def _busy(self) -> Iterator[None]:
        """Held while a command of this session lives."""
        with self._idle:
            self._executing += 1
        try:
            yield
        finally:
            with self._idle:
                self._executing -= 1
                self._idle.notify_all()

    def facts(self) -> BackendFacts:
        """The backend's: a session finds out nothing more."""
        return self._facts

    def cancel(self) -> None:
        """End every run of this session; safe from any thread."""
        self._cancel.throw()

    def close(self) -> None:
        """End what still runs, then remove the private directory. Safe to call more than once."""
        self._cancel.throw()
        with self._idle:
            self._idle.wait_for(lambda: self._executing == 0)
        if self._root_fd < 0:
            return
        try:
            os.fchmod(self._root_fd, 0o700)  # the workload may have closed it to us
            wipe(self._root_fd)
            os.rmdir(self._path)
        except OSError as error:
            raise SetupError(f"{self._path} could not be removed: {error.strerror}") from error
        finally:
            os.close(self._root_fd)
            self._root_fd = -1
            self._cancel.close()
