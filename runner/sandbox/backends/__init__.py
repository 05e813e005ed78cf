"""Where untrusted code can run. A backend is imported only when it is used: the SDKs are slow to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from runner.sandbox.backends.base import Backend, PairBackend


def open_backend(name: Literal["docker", "host"], *, inherit_env: bool = False) -> Backend:
    """The backend of that name. Raises EngineUnavailable."""
    # Imported here because start-up time is a feature, and most commands need no engine.
    if name == "docker":
        from runner.sandbox.backends.docker.backend import DockerBackend
        return DockerBackend()
    from runner.sandbox.backends.host import HostBackend
    return HostBackend(inherit_env=inherit_env)


def open_pair_backend() -> PairBackend:
    """The backend that runs browser sessions. Raises EngineUnavailable."""
    from runner.sandbox.backends.docker.backend import DockerBackend  # as above
    return DockerBackend()
