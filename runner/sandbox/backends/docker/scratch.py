"""Volumes that stand in for tmpfs mounts, where those take no cap of inodes."""

from __future__ import annotations

from typing import NamedTuple

from runner.sandbox.spec import ContainerSpec, TmpfsMount


class Scratch(NamedTuple):
    """A volume instead of one tmpfs mount of one container."""

    name: str
    mount: TmpfsMount


def scratch_volumes(spec: ContainerSpec) -> tuple[Scratch, ...]:
    """The volumes that must be there before the container is created, and go when it goes."""
    return tuple(Scratch(f"{spec.name}-tmp-{number}", mount) for number, mount in enumerate(spec.tmpfs, 1))
