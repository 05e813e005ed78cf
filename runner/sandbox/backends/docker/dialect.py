"""How an engine must be asked: products that speak the same API do not take the same requests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from runner.sandbox.backends.docker.ownkernel import render_for_own_kernel
from runner.sandbox.backends.docker.podman import profile_path, render_for_podman, volume_options_for_podman
from runner.sandbox.backends.docker.render import render, volume_options
from runner.sandbox.backends.docker.scratch import Scratch, scratch_volumes
from runner.sandbox.seccomp import profile_text
from runner.sandbox.spec import ContainerSpec


def _no_volumes(_spec: ContainerSpec) -> tuple[Scratch, ...]:
    return ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """``body`` renders a create request, ``scratch`` names the volumes it needs besides the session's, ``profile``
    is what ``spec.seccomp`` is to hold for a profile's name, ``volume`` makes the driver options of a volume with caps
    (size, inodes, mode). ``fills_at_start``: a new volume gets the image's files when its first container starts,
    not when it is created.
    """

    body: Callable[[ContainerSpec], dict[str, Any]] = render
    scratch: Callable[[ContainerSpec], tuple[Scratch, ...]] = _no_volumes
    profile: Callable[[str], str] = profile_text
    volume: Callable[..., dict[str, str]] = volume_options
    fills_at_start: bool = False


DOCKER: Final = Dialect()
OWN_KERNEL: Final = Dialect(render_for_own_kernel, scratch_volumes)
PODMAN: Final = Dialect(render_for_podman, scratch_volumes, profile_path, volume_options_for_podman,
                        fills_at_start=True)


def dialect_of(product: str, runtime: str | None = None) -> Dialect:
    """By the product that an engine says it is, and the runtime that the policy names: such a one brings a kernel."""
    if product == "podman":
        return PODMAN
    return DOCKER if runtime is None else OWN_KERNEL
