"""Whether Chromium's own sandbox is on, by what the kernel says of its renderers, not by how it was asked for.

A renderer in the sandbox has process and user namespaces of its own and a seccomp filter besides the container's
(Chromium's docs/linux/sandboxing.md; proc(5) for ``NSpid``, ``Seccomp`` and ``Seccomp_filters``).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

Confinement = Literal["on", "off", "unknown"]

_MOST = 4096
_PAUSE = 0.1
_LOOKS = 20
"""A renderer that was just forked has no filter yet; one that has none in so many looks on end gets none."""
_FILTER = "2"


async def seen_sandbox(browser: str, look: Callable[[], Confinement] | None = None,
                       pause: float = _PAUSE) -> Confinement:
    """Look until there is a renderer, every ``pause`` seconds. Only Chromium's sandbox is known."""
    if browser != "chromium":
        return "unknown"
    look, off = look or sandbox_state, 0
    while True:
        state = look()
        off = off + 1 if state == "off" else 0
        if state == "on" or off == _LOOKS:
            return state
        await asyncio.sleep(pause)


def sandbox_state(proc: str = "/proc", own: int | None = None) -> Confinement:
    """Of the renderers among our descendants. ``unknown``: there is none, or the kernel does not tell."""
    own = os.getpid() if own is None else own
    ours = _status(proc, own)
    states = {_is_confined(status, ours) for status in _renderers(proc, own)}
    if not states or None in states:
        return "unknown"
    return "on" if states == {True} else "off"


def _renderers(proc: str, own: int) -> Iterator[dict[str, str]]:
    found = {number: status for number in _numbers(proc) if (status := _status(proc, number))}
    parents = {number: int(status.get("PPid", "0")) for number, status in found.items()}
    for number, status in found.items():
        if _descends(number, own, parents) and "--type=renderer" in _command(proc, number):
            yield status


def _is_confined(status: dict[str, str], ours: dict[str, str]) -> bool | None:
    """By what it has more than we have, who run in the same container."""
    if not {"NSpid", "Seccomp", "Seccomp_filters"} <= status.keys() & ours.keys():
        return None
    deeper = len(status["NSpid"].split()) > len(ours["NSpid"].split())
    return deeper and status["Seccomp"] == _FILTER and int(status["Seccomp_filters"]) > int(ours["Seccomp_filters"])


def _descends(number: int, own: int, parents: dict[int, int]) -> bool:
    for _ in range(64):
        number = parents.get(number, 0)
        if number == own:
            return True
        if number <= 1:
            return False
    return False


def _numbers(proc: str) -> list[int]:
    return [int(name) for name in os.listdir(proc) if name.isdigit()][:_MOST]


def _status(proc: str, number: int) -> dict[str, str]:
    try:
        lines = Path(proc, str(number), "status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}  # it has ended
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _command(proc: str, number: int) -> str:
    try:
        return Path(proc, str(number), "cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
