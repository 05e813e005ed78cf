"""What an engine is and what it can enforce, probed once per replay."""

from __future__ import annotations

from typing import Any

import docker

from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.engine import engine_errors

_LIMIT_FLAGS = {"memory": "MemoryLimit", "swap": "SwapLimit", "cpus": "CpuCfsQuota", "pids": "PidsLimit"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}
"""``/info`` has the kernel's names, images have Go's."""


def probe_engine(api: docker.APIClient) -> BackendFacts:
    """Raises EngineUnavailable."""
    with engine_errors("ask the engine about itself"):
        info = api.info()
    return read_facts(info, str(api.api_version))


def read_facts(info: dict[str, Any], api_version: str) -> BackendFacts:
    """The pure part: the engine's ``/info`` as facts."""
    options = [str(option) for option in info.get("SecurityOptions") or ()]
    enforced = {limit for limit, flag in _LIMIT_FLAGS.items() if info.get(flag)}
    if any("name=seccomp" in option for option in options):
        enforced.add("seccomp")
    wanted = {*_LIMIT_FLAGS, "seccomp"}
    architecture = str(info.get("Architecture", ""))
    return BackendFacts(
        backend="docker", version=str(info.get("ServerVersion", "")), api_version=api_version,
        platform=f"{info.get('OSType', '')}/{_ARCHITECTURES.get(architecture, architecture)}",
        store=_store(info), cgroup=str(info.get("CgroupVersion", "1")),
        rootless=any("rootless" in option for option in options),
        userns_remap=any("userns" in option for option in options),
        memory=int(info.get("MemTotal", 0)), runtimes=tuple(sorted(info.get("Runtimes") or {})),
        boundary="container (runc, shared kernel)",
        enforced=tuple(sorted(enforced)), not_enforced=tuple(sorted(wanted - enforced)))


def _store(info: dict[str, Any]) -> str:
    status = {str(row[0]): str(row[1]) for row in info.get("DriverStatus") or () if len(row) == 2}
    return "containerd" if "containerd.snapshotter" in status.get("driver-type", "") else "graphdriver"
