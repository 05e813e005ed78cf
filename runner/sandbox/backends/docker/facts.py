"""What an engine is and what it can enforce, probed once per replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import docker

from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.address import reached_by
from runner.sandbox.backends.docker.engine import engine_errors

_LIMIT_FLAGS = {"memory": "MemoryLimit", "swap": "SwapLimit", "cpus": "CpuCfsQuota", "pids": "PidsLimit"}
_ROOTLESS_PODMAN_IGNORES = ("core", "file_size", "nofile")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
"""``/info`` has the kernel's names, images have Go's."""

PODMAN_DIFFERENCES: Final = (
    "does not tell of memory kills: our init reads the cgroup's own count; if it was killed itself, it is init_lost",
    "takes a seccomp profile only as a file of its own host: an engine elsewhere is refused",
    "takes no runtime from a policy: its own default is used, and a policy that names one is refused",
    "shows its own host's /etc/hosts in a sandbox (containers.conf: base_hosts_file, no_hosts)",
    "adds the variables container, TERM and HOSTNAME to a sandbox's environment",
    "hides what an image has in /run and /var/tmp: both are empty and read-only",
    "caps a user's processes on the whole host at 32768 besides the policy's own limit",
)
"""Seen on 4.3.1; tests/conformance/test_podman.py fails when one is no longer true."""

ROOTLESS_DIFFERENCE: Final = "has no control groups of its own: nothing tells of memory peaks and memory kills"


def probe_engine(api: docker.APIClient) -> BackendFacts:
    """Raises EngineUnavailable."""
    with engine_errors("ask the engine about itself"):
        info = api.info()
    return replace(read_facts(info, str(api.api_version)), reached=reached_by(str(api.base_url)))


def read_facts(info: dict[str, Any], api_version: str) -> BackendFacts:
    """The pure part: the engine's ``/info`` as facts."""
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    podman = "BuildahVersion" in info  # its own field, beside Docker's; it names itself nowhere else in there
    rootless = any("rootless" in option for option in options) or info.get("Rootless") is True
    remapped = any("userns" in option for option in options)
    enforced, missing = _limits(info, options, rootless_podman=podman and rootless)
    architecture = str(info.get("Architecture", ""))
    return BackendFacts(
        backend="docker", product="podman" if podman else "docker", version=str(info.get("ServerVersion", "")),
        api_version=api_version,
        platform=f"{info.get('OSType', '')}/{_ARCHITECTURES.get(architecture, architecture)}",
        store=_store(info), cgroup=str(info.get("CgroupVersion", "1")), rootless=rootless, userns_remap=remapped,
        kernel=str(info.get("KernelVersion", "")), memory=int(info.get("MemTotal", 0)),
        # Podman lists every runtime that it has heard of, and lets nobody choose one by this interface.
        runtimes=() if podman else tuple(sorted(info.get("Runtimes") or {})),
        boundary=_boundary(info, namespace=rootless or remapped), enforced=enforced, not_enforced=missing,
        differences=(*(PODMAN_DIFFERENCES if podman else ()),
                     *((ROOTLESS_DIFFERENCE,) if rootless and "memory" in missing else ())))


def _limits(info: Mapping[str, Any], options: list[str], *, rootless_podman: bool) -> tuple[tuple[str, ...], ...]:
    """What is enforced and what is not, as far as the engine says; the steward proves it before anything runs."""
    wanted = {*_LIMIT_FLAGS, "seccomp"}
    enforced = {limit for limit, flag in _LIMIT_FLAGS.items() if info.get(flag)}
    if any("name=seccomp" in option for option in options):
        enforced.add("seccomp")
    if rootless_podman:
        wanted |= set(_ROOTLESS_PODMAN_IGNORES)
        if str(info.get("CgroupVersion", "1")) == "1":
            enforced -= set(_LIMIT_FLAGS)  # it tells what the kernel could do, not what it may use itself
    return tuple(sorted(enforced)), tuple(sorted(wanted - enforced))


def _boundary(info: Mapping[str, Any], *, namespace: bool) -> str:
    """Engines call the same runtime by several names: ``runc``, ``io.containerd.runc.v2``."""
    default = str(info.get("DefaultRuntime") or "runc")
    runtime = "runc" if "runc" in default.split(".") else default
    return f"container ({runtime}, shared kernel{', user namespace' if namespace else ''})"


def _store(info: Mapping[str, Any]) -> str:
    status = {str(row[0]): str(row[1]) for row in info.get("DriverStatus") or () if len(row) == 2}
    return "containerd" if "containerd.snapshotter" in status.get("driver-type", "") else "graphdriver"
