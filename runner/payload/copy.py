"""Unpack, clone and wipe trees by directory descriptor."""

from __future__ import annotations

from collections.abc import Callable

from runner.payload.tree import SealLimits


def unpack(read: Callable[[int], bytes], root_fd: int, limits: SealLimits) -> None:
    """Write a canonical tar stream below an empty directory. ``read(n)`` gives exactly n bytes."""
    raise NotImplementedError


def clone(source_fd: int, target_fd: int) -> None:
    """Copy a tree with modes and times into an empty directory."""
    raise NotImplementedError


def wipe(dir_fd: int) -> None:
    """Remove everything in a directory, of any depth and mode, never following links."""
    raise NotImplementedError
