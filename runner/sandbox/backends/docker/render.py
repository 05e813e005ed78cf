"""A ContainerSpec as the engine's create request. Pure: no engine is needed to read what will be asked."""

from __future__ import annotations

from typing import Any

from runner.sandbox.spec import ContainerSpec, TmpfsMount, VolumeMount

_NANO = 1_000_000_000


def render(spec: ContainerSpec) -> dict[str, Any]:
    """The body of ``POST /containers/create`` (Docker Engine API).

    The image's ENTRYPOINT, CMD, HEALTHCHECK and USER are all replaced; swap is off (memory = memory+swap);
    output is never written to a log on the engine's disk.
    """
    return {
        "Image": spec.image_id,
        "Entrypoint": [spec.argv[0]],
        "Cmd": list(spec.argv[1:]),
        "Env": [f"{name}={value}" for name, value in spec.env],
        "User": spec.user,
        "WorkingDir": spec.workdir,
        **({} if joins(spec) else {"Hostname": spec.hostname}),
        "Labels": dict(spec.labels),
        "Healthcheck": {"Test": ["NONE"]},
        "StopSignal": "SIGKILL",
        "Tty": False,
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "NetworkDisabled": spec.network == "none" and not spec.hosts_file,
        "HostConfig": _host_config(spec),
    }


def joins(spec: ContainerSpec) -> bool:
    """Whether the container gets the network of another one, and with it that one's names."""
    return spec.network.startswith("container:")


def _host_config(spec: ContainerSpec) -> dict[str, Any]:
    limits = spec.limits
    config: dict[str, Any] = {
        "NetworkMode": spec.network,
        "ReadonlyRootfs": True,
        "Privileged": False,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={spec.seccomp}"],
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "Init": False,
        "AutoRemove": False,
        "RestartPolicy": {"Name": "no"},
        "LogConfig": {"Type": "none"},
        "PidsLimit": limits.pids,
        "Memory": limits.memory,
        "MemorySwap": limits.memory,
        "NanoCpus": int(limits.cpus * _NANO),
        "ShmSize": limits.shm,
        "Ulimits": [_ulimit("core", 0), _ulimit("fsize", limits.file_size), _ulimit("nofile", limits.nofile)],
        "Tmpfs": {mount.target: tmpfs_options(mount) for mount in spec.tmpfs},
        "Mounts": [_volume(mount, dict(spec.labels)) for mount in spec.volumes],
    }
    if spec.runtime is not None:
        config["Runtime"] = spec.runtime
    if spec.network == "none":
        # Where the engine writes a resolv.conf, it is not the host's.
        config |= {"Dns": ["127.0.0.1"], "DnsSearch": ["."]}
    return config


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def _volume(mount: VolumeMount, labels: dict[str, str]) -> dict[str, Any]:
    """The labels are for an engine that makes a missing volume by itself: a sweep must find that one too."""
    return {"Type": "volume", "Source": mount.volume, "Target": mount.target, "ReadOnly": mount.read_only,
            "VolumeOptions": {"NoCopy": not mount.copy_up, "Labels": labels}}


def tmpfs_options(mount: TmpfsMount) -> str:
    """Mount options of a tmpfs; ``uid=`` is left out because it breaks under user-namespace remapping."""
    run = "exec" if mount.executable else "noexec"
    return f"rw,{run},nosuid,nodev,size={mount.size},nr_inodes={mount.inodes},mode={mount.mode:o}"


def volume_options(size: int, inodes: int, mode: int = 0o1777, page: int = 4096) -> dict[str, str]:
    """Driver options of a work volume: a tmpfs with a size and an inode cap that the kernel enforces.

    ``nr_blocks`` is used because Podman refuses ``size=`` and both accept this.
    """
    return {"type": "tmpfs", "device": "tmpfs",
            "o": f"nr_blocks={-(-size // page)},nr_inodes={inodes},mode={mode:o},nosuid,nodev"}
