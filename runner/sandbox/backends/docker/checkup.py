"""What ``runner doctor`` looks at on an engine. Each finding has a line that mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from runner.errors import RunnerError
from runner.resources import data_dir
from runner.sandbox.backends.base import BackendFacts
from runner.sandbox.backends.docker.engine import connect, engine_errors
from runner.sandbox.backends.docker.facts import probe_engine
from runner.sandbox.backends.docker.imagestate import ImageState, image_states
from runner.sandbox.policy import Policy, load_policy, policy_names

Status = Literal["ok", "warn", "fail"]
_BESIDE_RUNS = 512 << 20
"""Bytes for the steward with a payload of some size, and for the host itself."""

_OLDEST_API = (1, 41)
_ALWAYS_NEEDED = frozenset({"command", "steward"})
"""Our images without which nothing can be replayed."""

_DIFFERS = "know it when you read the evidence, or use an engine that does it: docs/engines.md"
_FILTERING = frozenset({"oci-seccomp", "oci-seccomp=true"})

KNOWN_BAD = (
    ((0, 0), (18, 9, 7), "CVE-2018-15664: archive copies can be led out of the container (we make none)"),
    ((0, 0), (29, 5, 1), "CVE-2026-41567: archive uploads may run the container's own tools (we make none)"),
)
"""(from, fixed in, what). Both concern archive calls, which this program never makes; others on the host may."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was seen, and what to do if it is not right. ``fix`` is empty only where nothing is wrong."""

    name: str
    status: Status
    seen: str
    fix: str = ""


def check_up() -> tuple[Finding, ...]:
    """All checks of an engine, in the order in which they depend on each other."""
    try:
        api = connect()
        facts = probe_engine(api)
        with engine_errors("ask the engine for its runtimes"):
            info = api.info()
        images = image_states(api, data_dir("images"))
    except RunnerError as error:
        return (Finding("engine", "fail", error.message, error.hint or "check the engine's own log"),)
    return (Finding("engine", "ok",
                    f"{facts.product} {facts.version}, API {facts.api_version}, {facts.platform}, {facts.boundary}"),
            _reached(facts), *(Finding("differs", "warn", difference, _DIFFERS) for difference in facts.differences),
            _api(facts), *_known_bad(facts), _store(facts), _cgroup(facts), _limits(facts), _seccomp(facts),
            gvisor(facts, info), memory(facts, [load_policy(name) for name in policy_names()]),
            *(image(state) for state in images))


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


def memory(facts: BackendFacts, policies: list[Policy]) -> Finding:
    """Whether one run of each policy is admitted, with a small payload."""
    total = facts.memory
    short = [policy.name for policy in policies if total < policy.memory + _BESIDE_RUNS]
    if not short:
        return Finding("memory", "ok", f"{total >> 20} MiB, enough for each policy")
    fitting = [policy.name for policy in policies if policy.name not in short]
    return Finding("memory", "warn" if fitting else "fail", f"{total >> 20} MiB is too little for {', '.join(short)}",
                   f"use --policy {fitting[0]}, or a policy file with less memory" if fitting
                   else "give the engine more memory, or write a policy file with less")


def image(state: ImageState) -> Finding:
    """One of our images: there, of a recipe that has changed since, or another build than the locked one."""
    name = f"image {state.name}"
    if state.state == "missing":
        seen = f"stale: {state.note}" if state.note else "is not on this engine"
        status: Status = "fail" if state.name in _ALWAYS_NEEDED else "warn"
        return Finding(name, status, seen, f"runner images build {state.name}")
    if state.state == "different":
        return Finding(name, "warn", f"{state.id}: {state.note}",
                       f"runner images verify {state.name} tells what differs")
    return Finding(name, "ok", state.id + (f" ({state.note})" if state.note else ""))
