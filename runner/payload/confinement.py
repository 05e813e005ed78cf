"""What this process may not do, read back from the kernel it runs on: the proof that a sandbox is one.

Sources: proc(5) for ``/proc/self/status`` and ``/proc/net/dev``, prctl(2).
"""

from __future__ import annotations

import os
from typing import NamedTuple

from runner.payload.mounts import mount_of

_CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
_GET_NO_NEW_PRIVILEGES = 39
_UNKNOWN = (1 << 64) - 1


class Confinement(NamedTuple):
    """``kernel`` is its release, ``user`` is uid:gid, ``capabilities`` one mask of all sets, every bit set when
    unknown, ``interfaces`` are the network's.
    """

    kernel: str
    user: str
    capabilities: int
    no_new_privileges: bool
    read_only_root: bool
    interfaces: tuple[str, ...]


def confinement(proc: str = "/proc") -> Confinement:
    """Of this process. Raises OSError."""
    status = _status(f"{proc}/self/status")
    told = status.get("NoNewPrivs")
    return Confinement(
        kernel=os.uname().release, user=f"{os.getuid()}:{os.getgid()}", capabilities=_capabilities(status),
        no_new_privileges=_asked_no_new_privileges() if told is None else told == "1",
        read_only_root="ro" in mount_of("/", f"{proc}/self/mountinfo").options,
        interfaces=_interfaces(f"{proc}/net/dev"))


def _status(path: str) -> dict[str, str]:
    with open(path, encoding="ascii", errors="replace") as file:
        pairs = [line.partition(":") for line in file]
    return {name: value.strip() for name, _, value in pairs}


def _capabilities(status: dict[str, str]) -> int:
    shown = [int(status[name], 16) for name in _CAPABILITIES if name in status]
    mask = 0 if shown else _UNKNOWN
    for capabilities in shown:
        mask |= capabilities
    return mask


def _asked_no_new_privileges() -> bool:
    """GVisor does not list it."""
    import ctypes  # start-up time: most kernels list it

    return bool(ctypes.CDLL(None).prctl(_GET_NO_NEW_PRIVILEGES, 0, 0, 0, 0) == 1)


def _interfaces(path: str) -> tuple[str, ...]:
    """Two lines of heading, then ``name: counters``."""
    with open(path, encoding="ascii", errors="replace") as table:
        return tuple(line.partition(":")[0].strip() for line in table.readlines()[2:])
