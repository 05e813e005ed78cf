"""What one container is to be: a frozen value that a backend renders, and a test can read."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TmpfsMount:
    """A size-capped tmpfs. Sizes are bytes."""

    target: str
    size: int
    inodes: int
    executable: bool = False
    mode: int = 0o1777


@dataclass(frozen=True, slots=True)
class VolumeMount:
    """A named volume of ours. Never a host path: there is no field for one."""

    volume: str
    target: str
    read_only: bool = False
    copy_up: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one container: bytes, counts, and CPUs as a number of cores."""

    memory: int
    pids: int
    cpus: float
    nofile: int
    file_size: int
    shm: int


@dataclass(frozen=True, slots=True)
class ContainerSpec:
    """Everything the engine is told about a container.

    ``argv`` is the whole command line including the entry point: an image's own ENTRYPOINT, CMD and
    HEALTHCHECK never apply. ``hosts_file``: the image needs one to know ``localhost``; the engine takes time for it.
    """

    name: str
    image_id: str
    argv: tuple[str, ...]
    user: str
    workdir: str
    hostname: str
    limits: Limits
    seccomp: str
    labels: tuple[tuple[str, str], ...]
    env: tuple[tuple[str, str], ...] = ()
    volumes: tuple[VolumeMount, ...] = ()
    tmpfs: tuple[TmpfsMount, ...] = field(default=())
    network: str = "none"
    hosts_file: bool = False
    runtime: str | None = None
