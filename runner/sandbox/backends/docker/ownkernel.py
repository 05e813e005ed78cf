"""How an engine is asked for a sandbox under a runtime that brings a kernel of its own, such as gVisor.

A tmpfs mount is made inside of such a kernel, and gVisor's (seen: 2022) takes no ``nr_inodes``. So each one is a
volume: the engine's host mounts it, and its caps are the host kernel's.
"""

from __future__ import annotations

from typing import Any

from runner.sandbox.backends.docker.render import render
from runner.sandbox.backends.docker.scratch import scratch_volumes
from runner.sandbox.spec import ContainerSpec


def render_for_own_kernel(spec: ContainerSpec) -> dict[str, Any]:
    """The body of ``POST /containers/create``."""
    body = render(spec)
    host = body["HostConfig"]
    host["Tmpfs"] = {}
    host["Mounts"] += [{"Type": "volume", "Source": scratch.name, "Target": scratch.mount.target, "ReadOnly": False,
                        "VolumeOptions": {"NoCopy": True, "Labels": dict(spec.labels)}}
                       for scratch in scratch_volumes(spec)]
    return body
