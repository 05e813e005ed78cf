"""The limits that really hold around this process, read back from the kernel.

Sources: the kernel's cgroup v1 and v2 documentation, getrlimit(2), proc(5) for ``/proc/meminfo``.
"""

from __future__ import annotations

import os
import resource
from typing import NamedTuple

_ROOT = "/sys/fs/cgroup/"
_MEMINFO = "/proc/meminfo"
_UNLIMITED = 1 << 62


class HeldLimits(NamedTuple):
    """Bytes, counts and thousandths of a core; ``None`` where the boundary does not show the limit.

    An absent limit that is shown reads as a very large number. ``seccomp`` is 1 where our profile is in force,
    ``swap`` is what may be used of it besides ``memory``.
    """

    memory: int | None
    pids: int | None
    cpu_milli: int | None
    nofile: int | None
    file_size: int | None
    core: int | None
    seccomp: int | None
    swap: int | None


def held_limits(root: str = _ROOT, meminfo: str = _MEMINFO) -> HeldLimits:
    """Of this process and its cgroup. A kernel of one's own shows no cgroup: its limit is all the memory it has."""
    memory = _count(root, "memory/memory.limit_in_bytes", "memory.max")
    return HeldLimits(_total_memory(meminfo) if memory is None else memory, _count(root, "pids/pids.max", "pids.max"),
                      _cpu(root), _rlimit(resource.RLIMIT_NOFILE), _rlimit(resource.RLIMIT_FSIZE),
                      _rlimit(resource.RLIMIT_CORE), _our_profile(), _swap(root))


def _read(*paths: str) -> str:
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                return file.read(100).strip()
        except OSError:
            continue  # the other cgroup version, or none shown
    return ""


def _total_memory(path: str) -> int | None:
    """The first line is ``MemTotal: N kB``."""
    name, _, rest = _read(path).partition(":")
    amount = rest.split()[:1]
    return int(amount[0]) * 1024 if name == "MemTotal" and amount and amount[0].isdigit() else None


def _number(text: str) -> int | None:
    if text in ("max", "-1"):
        return _UNLIMITED
    return int(text) if text.isdigit() else None


def _count(root: str, old: str, new: str) -> int | None:
    return _number(_read(root + new, root + old))


def _cpu(root: str) -> int | None:
    quota, _, period = _read(root + "cpu.max").partition(" ")
    if not quota:
        quota, period = _read(root + "cpu/cpu.cfs_quota_us"), _read(root + "cpu/cpu.cfs_period_us")
    part, whole = _number(quota), _number(period)
    if part is None or not whole:
        return None
    return part if part == _UNLIMITED else part * 1000 // whole


def _swap(root: str) -> int | None:
    """Version 1 counts memory and swap together."""
    both = _number(_read(root + "memory/memory.memsw.limit_in_bytes"))
    memory = _number(_read(root + "memory/memory.limit_in_bytes"))
    if both is None or memory is None:
        return _number(_read(root + "memory.swap.max"))
    return max(0, both - memory)


def _rlimit(which: int) -> int:
    hard = resource.getrlimit(which)[1]
    return _UNLIMITED if hard == resource.RLIM_INFINITY else hard


def _our_profile() -> int:
    """Our seccomp profiles let a process name nobody but itself, as 0, when it sets a priority: no kernel and no
    engine's own profile minds a number that is its own.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, os.getpid(), os.getpriority(os.PRIO_PROCESS, 0))
    except PermissionError:
        return 1
    return 0
