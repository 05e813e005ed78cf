"""The host as a backend: the command runs beside everything else on this machine, with its user's rights."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from runner.errors import EngineUnavailable, UsageError, printable
from runner.payload.seal import SealedPayload
from runner.sandbox.backends.base import BackendFacts, Plan
from runner.sandbox.backends.host.session import HostSession
from runner.sandbox.image import ImagePin, ResolvedImage

_ENFORCED = ("core", "file_size", "no_new_privileges", "nofile", "output", "payload", "timeout")
_NOT_ENFORCED = ("capabilities", "cpus", "memory", "network", "pids", "read_only_root", "seccomp", "shm",
                 "tmp", "user", "work")


class HostBackend:
    """No boundary: only for a report whose author is trusted with this machine.

    ``inherit_env`` passes the caller's whole environment instead of an allow-list. ``temp_root`` is where
    the private copies are made (default: the system's). ``environ`` is the caller's environment.
    """

    name = "host"

    def __init__(self, *, inherit_env: bool = False, temp_root: str | None = None,
                 environ: Mapping[str, str] | None = None) -> None:
        self._inherit_env = inherit_env
        self._temp_root = temp_root
        self._environ = dict(os.environ if environ is None else environ)

    def probe(self) -> BackendFacts:
        """What this machine is, and which limits of a policy do not hold on it. Raises EngineUnavailable."""
        if sys.platform != "linux":
            raise EngineUnavailable("the host backend needs Linux", hint="use --backend docker")
        return BackendFacts(
            backend=self.name, version=platform.release(), platform=f"linux/{platform.machine()}",
            rootless=os.geteuid() != 0, boundary="none (host)",
            enforced=_ENFORCED, not_enforced=_NOT_ENFORCED)

    def resolve_image(self, wanted: ImagePin | str | None) -> ResolvedImage | None:  # noqa: ARG002  no images here
        """Always ``None``: the host has no images."""
        return None

    @contextmanager
    def open(self, plan: Plan, sealed: SealedPayload) -> Iterator[HostSession]:
        """A private directory for the copies of all runs; nothing of it is left on exit.

        Raises UsageError for names that would lead out of it, SetupError.
        """
        _check_names(plan)
        session = HostSession(plan, sealed, self._temp_root, self._environ, inherit_env=self._inherit_env,
                              facts=self.probe())
        try:
            yield session
        finally:
            session.close()


def _check_names(plan: Plan) -> None:
    name = plan.working_copy
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise UsageError(f"the working copy cannot be named {printable(name)!r}", hint="use one plain name")
    if plan.cwd.startswith("/") or ".." in plan.cwd.split("/"):
        raise UsageError(f"the working directory {printable(plan.cwd)!r} does not lie in the payload")
