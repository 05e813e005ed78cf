"""Where a Python frame is, without what changes between machines and line edits."""

from __future__ import annotations

import posixpath
import re

_DRIVE = re.compile(r"[A-Za-z]:/")
_PACKAGES = "/site-packages/"
_WORKSPACE = "/workspace/"


def frame_text(path: str, function: str, root: str | None) -> str:
    """``location:function`` of a frame.

    With ``root`` by ReproMin's rule ``execution-root-relative-v1``, without it by its legacy rule. Line
    numbers never count.
    """
    path = path.replace("\\", "/")
    place = _legacy(path) if root is None else _rooted(path, root)
    return f"{place or '<unknown>'}:{function.strip() or '<module>'}"


def _rooted(path: str, root: str) -> str:
    root = posixpath.normpath(root.replace("\\", "/")).rstrip("/") + "/"
    candidate = posixpath.normpath(path)
    blind = _DRIVE.match(root) is not None
    inside = candidate.casefold().startswith(root.casefold()) if blind else candidate.startswith(root)
    return candidate[len(root):] if inside else _outside(path)


def _legacy(path: str) -> str:
    if _WORKSPACE in path:
        return path.rpartition(_WORKSPACE)[2]
    return _outside(path)


def _outside(path: str) -> str:
    if _PACKAGES in path:
        return path.rpartition(_PACKAGES)[2]
    if path.startswith("/") or _DRIVE.match(path):
        return path.rpartition("/")[2]
    return path
