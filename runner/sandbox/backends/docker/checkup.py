"""What ``runner doctor`` looks at on an engine. Each finding has a line that mends it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import docker

from runner.errors import RunnerError
from runner.images.recipe import recipe_names
from runner.resources import data_dir
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.engine import connect, engine_errors
from runner.sandbox.backends.docker.facts import probe_engine
from runner.sandbox.backends.docker.images import local_image
from runner.sandbox.policy import load_policy

Status = Literal["ok", "warn", "fail"]
_NEEDED_DISK = 2 << 30
_OLDEST_API = (1, 41)
_FILTERING = frozenset({"oci-seccomp", "oci-seccomp=true"})

KNOWN_BAD = (
    ((0, 0), (18, 9, 7), "CVE-2018-15664: archive copies can be led out of the container (we make none)"),
    ((0, 0), (29, 5, 1), "CVE-2026-41567: archive uploads may run the container's own tools (we make none)"),
)
"""(from, fixed in, what). Both concern archive calls, which this program never makes; others on the host may."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was seen, and what to do if it is not right."""

    name: str
    status: Status
    seen: str
    fix: str = ""


def check_up() -> tuple[Finding, ...]:
    """All checks, in the order in which they depend on each other."""
    try:
        api = connect()
        facts = probe_engine(api)
        with engine_errors("ask the engine for its runtimes"):
            info = api.info()
    except RunnerError as error:
        return (Finding("engine", "fail", error.message, error.hint), _disk())
    return (Finding("engine", "ok",
                    f"{facts.product} {facts.version}, API {facts.api_version}, {facts.platform}, {facts.boundary}"),
            _reached(facts), *(Finding("differs", "warn", difference) for difference in facts.differences),
            _api(facts), *_known_bad(facts), _store(facts), _cgroup(facts), _limits(facts), _seccomp(facts),
            gvisor(facts, info), _memory(facts), *_images(api), _disk())


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.partition("+")[0].partition("-")[0].split(".")
    return tuple(int(part) for part in parts if part.isdigit())


def _reached(facts: BackendFacts) -> Finding:
    if facts.reached == "tcp":
        return Finding("reached", "warn", "tcp without TLS: whoever reaches that port owns the engine's host",
                       "serve it with --tlsverify, and set DOCKER_TLS_VERIFY and DOCKER_CERT_PATH: docs/engines.md")
    secured = facts.reached == "tcp+tls"
    return Finding("reached", "ok", "tcp, with TLS that proves both sides" if secured else "a socket of this machine")


def _api(facts: BackendFacts) -> Finding:
    if _numbers(facts.api_version) >= _OLDEST_API:
        return Finding("api", "ok", facts.api_version)
    return Finding("api", "fail", f"{facts.api_version} is older than 1.41", "upgrade the engine to 20.10 or newer")


def _known_bad(facts: BackendFacts) -> Iterator[Finding]:
    version = _numbers(facts.version) if facts.product == "docker" else (1 << 30,)  # others count otherwise
    for first, fixed, what in KNOWN_BAD:
        if first <= version < fixed:
            yield Finding("known issue", "warn", what, f"upgrade the engine to {'.'.join(map(str, fixed))} or newer")


def _store(facts: BackendFacts) -> Finding:
    return Finding("image store", "ok", facts.store)


def _cgroup(facts: BackendFacts) -> Finding:
    return Finding("cgroup", "ok", f"version {facts.cgroup}" + (", rootless engine" if facts.rootless else ""))


def _limits(facts: BackendFacts) -> Finding:
    if not facts.not_enforced:
        return Finding("limits", "ok", f"enforced: {', '.join(facts.enforced)}")
    if facts.rootless:
        return Finding("limits", "fail", f"not enforced: {', '.join(facts.not_enforced)}",
                       "use an engine that runs as root (docs/engines.md tells what a rootless one lacks)")
    return Finding("limits", "fail", f"not enforced: {', '.join(facts.not_enforced)}",
                   "enable the cgroup controllers (for memory and swap: kernel options "
                   "cgroup_enable=memory swapaccount=1), or run the engine as root")


def _seccomp(facts: BackendFacts) -> Finding:
    if "seccomp" in facts.enforced:
        return Finding("seccomp", "ok", "the engine applies profiles")
    return Finding("seccomp", "fail", "the engine applies no profiles", "use a kernel and engine with seccomp")


def gvisor(facts: BackendFacts, info: Mapping[str, Any]) -> Finding:
    """``info`` is the engine's: its runtimes with their arguments. A replay proves what is only read here."""
    if "runsc" not in facts.runtimes:
        return Finding("gvisor", "warn", "no runsc: the kernel is shared with the workload, under strict too",
                       "install gVisor and register the runtime `runsc` with the engine, or replay in a disposable VM")
    arguments = (info.get("Runtimes") or {}).get("runsc", {}).get("runtimeArgs") or ()
    if any(word.lstrip("-") in _FILTERING for word in arguments):
        return Finding("gvisor", "ok", "runsc is there, with seccomp; the policy strict uses it")
    return Finding("gvisor", "warn", "runsc applies no seccomp profile: the policy strict is refused",
                   "add --oci-seccomp to the runtimeArgs of `runsc` in the engine's daemon.json, and reload it")


def _memory(facts: BackendFacts) -> Finding:
    total = facts.memory
    wanted = load_policy("default").memory
    if total >= 2 * wanted:
        return Finding("memory", "ok", f"{total >> 20} MiB")
    return Finding("memory", "warn", f"{total >> 20} MiB is little for the default policy",
                   "use --policy strict or a policy file with less memory")


def _images(api: docker.APIClient) -> Iterator[Finding]:
    for name in recipe_names(data_dir("images")):
        try:
            image = local_image(api, name)
        except RunnerError as error:
            yield Finding(f"image {name}", "fail", error.message, error.hint)
        else:
            yield Finding(f"image {name}", "ok", image.id)


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free
    if free >= _NEEDED_DISK:
        return Finding("disk", "ok", f"{free >> 30} GiB free here")
    return Finding("disk", "warn", f"{free >> 20} MiB free here", "make room: evidence and images need about 2 GiB")
