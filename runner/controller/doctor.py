"""Is this machine fit for the job? The engine's findings, and those of this side of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from runner.controller.loads.engine import k6_version
from runner.errors import RunnerError, SetupError, UsageError, printable
from runner.evidence.database import is_store, open_database, store_root
from runner.images.cache import cache_dir
from runner.images.process import require_tool
from runner.sandbox.backends import open_pair_backend
from runner.sandbox.backends.base import PairBackend
from runner.sandbox.backends.docker.checkup import Finding, check_up

_NEEDED_DISK = 2 << 30


def examine() -> tuple[Finding, ...]:
    """All checks; the engine first, since without one there is nothing else to do."""
    root = store_root()
    disks = (disk(name, place) for name, place in (("disk", root), ("cache", cache_dir())))
    engine = check_up()
    return (*engine, *(load_engine() if engine[0].status == "ok" else ()), store(root), *disks, builder())


def load_engine(backend: PairBackend | None = None) -> tuple[Finding, ...]:
    """Whether k6 runs here, and which. Nothing is said without the image: that was said before."""
    try:
        backend = backend or open_pair_backend()
        backend.own_image("k6")
    except RunnerError:
        return ()
    try:
        version = k6_version(backend)
    except RunnerError as error:
        return (Finding("k6", "fail", error.message, error.hint or "runner images verify k6"),)
    if not version:
        return (Finding("k6", "fail", "does not say its version", "runner images verify k6"),)
    return (Finding("k6", "ok", version),)


def store(root: Path) -> Finding:
    """Whether runs can be kept. A store that is there is opened; one that is not is not made."""
    try:
        if is_store(root):
            open_database(root).close()
    except (UsageError, SetupError) as error:
        return Finding("store", "fail", error.message, error.hint or "set RUNNER_STORE to a directory of yours")
    place = _existing(root)
    if not os.access(place, os.W_OK | os.X_OK):
        return Finding("store", "fail", f"{printable(str(place))} cannot be written",
                       "work in a directory of yours, or set RUNNER_STORE to one")
    return Finding("store", "ok", printable(str(root)) + ("" if is_store(root) else ", made with the first run"))


def disk(name: str, place: Path) -> Finding:
    """Room where evidence, or images on their way, are put."""
    there = _existing(place)
    free = shutil.disk_usage(there).free
    if free >= _NEEDED_DISK:
        return Finding(name, "ok", f"{free >> 30} GiB free at {printable(str(there))}")
    return Finding(name, "warn", f"{free >> 20} MiB free at {printable(str(there))}",
                   "make room: about 2 GiB; `runner runs prune` removes old evidence" if name == "disk" else
                   "make room: about 2 GiB; set XDG_CACHE_HOME to another place")


def builder() -> Finding:
    """Whether images can be built here. An engine that has them already needs no builder."""
    try:
        require_tool()
    except SetupError as error:
        return Finding("image builder", "warn", error.message, error.hint)
    return Finding("image builder", "ok", "mmdebstrap is there")


def _existing(place: Path) -> Path:
    """The directory itself, or the nearest one above it that is there for all we may see."""
    return next(each for each in (place.absolute(), *place.absolute().parents) if os.path.isdir(each))
