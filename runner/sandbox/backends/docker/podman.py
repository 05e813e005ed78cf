"""How Podman's Docker-compatible API must be asked to give the same sandbox.

What it does otherwise was read in its source (v4.3.1, ``pkg/api/handlers/compat/containers_create.go``) and seen on
an engine: a seccomp profile is the path of a file on the engine's host; a tmpfs takes no inode cap; volume options
of ``Mounts`` are dropped; limits of open files and processes that are not given are set to fixed large numbers; a
read-only root gets writable ``/run``, ``/tmp`` and ``/var/tmp`` without a cap.
"""

from __future__ import annotations

from typing import Any, Final

from runner.resources import data_dir
from runner.sandbox.backends.docker.render import render, volume_options
from runner.sandbox.backends.docker.scratch import Scratch, scratch_volumes
from runner.sandbox.spec import ContainerSpec, VolumeMount

PROCESSES_OF_THE_USER: Final = 32768
"""Enough for all runs at once, and less than what an engine may hand on."""

_CLOSED = "ro,noexec,nosuid,nodev,notmpcopyup,size=4096"
_OPENED_BY_ITSELF = ("/run", "/tmp", "/var/tmp")  # noqa: S108  places, not files


def volume_options_for_podman(size: int, inodes: int, mode: int = 0o1777) -> dict[str, str]:
    """Naming an owner keeps it from giving the volume the owner and mode of the image's directory there."""
    options = volume_options(size, inodes, mode=mode)
    return options | {"o": f"{options['o']},uid=0,gid=0"}


def render_for_podman(spec: ContainerSpec) -> dict[str, Any]:
    """The body of ``POST /containers/create``; ``spec.seccomp`` is a path on the engine's host."""
    body = render(spec)
    host = body["HostConfig"]
    del host["Mounts"]
    host["Binds"] = [*map(_volume, spec.volumes), *map(_scratch, scratch_volumes(spec))]
    taken = {*(mount.target for mount in spec.volumes), *(mount.target for mount in spec.tmpfs)}
    host["Tmpfs"] = {place: _CLOSED for place in _OPENED_BY_ITSELF if place not in taken}
    host["Ulimits"].append({"Name": "nproc", "Soft": PROCESSES_OF_THE_USER, "Hard": PROCESSES_OF_THE_USER})
    return body


def _volume(mount: VolumeMount) -> str:
    words = ["ro" if mount.read_only else "rw", "nosuid", "nodev", *([] if mount.copy_up else ["nocopy"])]
    return f"{mount.volume}:{mount.target}:{','.join(words)}"


def _scratch(scratch: Scratch) -> str:
    run = "exec" if scratch.mount.executable else "noexec"
    return f"{scratch.name}:{scratch.mount.target}:rw,{run},nosuid,nodev,nocopy"


def profile_path(name: str) -> str:
    """Where the profile is on this host: an engine elsewhere does not find it, and refuses."""
    return str(data_dir("policies") / "seccomp" / f"{name}.json")
