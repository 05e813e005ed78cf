"""What killed controllers left in the index: completed where all of it was confirmed, else called what it is.

A living controller holds a lock on its directory (:mod:`runner.evidence.leftovers`), under either of its names. When
nobody holds it and the row still says ``running``, the controller is dead.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.errors import RunnerError
from runner.evidence.events import canonical
from runner.evidence.files import sync_folder
from runner.evidence.index import Closing, Index, Row
from runner.evidence.leftovers import partial_of, remove_partial

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def now() -> str:
    """This moment: UTC, ISO 8601, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def reconcile(index: Index) -> None:
    """Settle every replay that says ``running`` and whose controller is dead."""
    for row in index.rows("state = 'running'"):
        for path in (partial_of(row.path, row.run_id), row.path):  # in the order in which it is moved
            try:
                descriptor = os.open(path, _DIRECTORY)
            except OSError:
                continue
            try:
                _settle(index, row, path, descriptor)
            finally:
                os.close(descriptor)
            break
        else:
            index.end(row.run_id, "killed", now())


def _settle(index: Index, row: Row, path: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return  # alive, or another process is at this very work
    current = index.rows("run_id = ? AND state = 'running'", (row.run_id,))
    if not current:
        return  # it came to its end meanwhile
    closing = _confirmed_end(index, row, descriptor)
    try:
        if closing is not None:
            if path != row.path:
                os.rename(path, row.path)
                sync_folder(row.path.parent)
            index.finish(row.run_id, closing)
            return
    except (OSError, RunnerError):
        closing = None  # its place was taken: what is there stays where it is
    index.end(row.run_id, "killed", now())


def _confirmed_end(index: Index, row: Row, directory: int) -> Closing | None:
    """What the row is to say, when the log has its last event and the directory has that very result."""
    lines = index.lines(row.run_id)
    last = json.loads(lines[-1]) if lines else {}
    if last.get("kind") != "replay.judged":
        return None
    try:
        with os.fdopen(os.open("result.json", _FILE, dir_fd=directory), "rb") as file:
            raw = file.read()
        document = json.loads(raw)
        end = document.pop("events")
        core = sha256(canonical(document)).hexdigest()
        if core != last["data"]["result_sha256"] or end["head"] != sha256(lines[-1]).hexdigest():
            return None
        return closing_of({**document, "events": end}, raw, size_of(directory))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def closing_of(document: Mapping[str, Any], raw: bytes, size: int) -> Closing:
    """The row of a result: the document, its file's bytes, and how many all files have.

    Raises ValueError, KeyError, TypeError for what is none.
    """
    started, finished = (datetime.fromisoformat(document[name]) for name in ("started", "finished"))
    return Closing(
        finished=document["finished"], verdict=document["verdict"], exit_code=document["exit_code"],
        passes=document["passes"], duration=(finished - started).total_seconds(),
        result_sha256=sha256(raw).hexdigest(), events_count=document["events"]["count"],
        events_head=document["events"]["head"], bytes=size)


def size_of(directory: int) -> int:
    """Bytes of all files of a run directory: those in it, and its artifacts."""
    total = 0
    with os.scandir(directory) as entries:
        names = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in names:
        if is_folder:
            inner = os.open(name, _DIRECTORY, dir_fd=directory)
            total += size_of(inner)
            os.close(inner)
        else:
            total += os.stat(name, dir_fd=directory, follow_symlinks=False).st_size
    return total


def sweep_known(index: Index, grace: float) -> tuple[str, ...]:
    """Remove what replays that ended without a result left, wherever ``--out`` put it: all of an interrupted one,
    which was to leave nothing; of others only what holds no confirmed run.
    """
    rows = index.rows("state IN ('interrupted', 'failed', 'killed')")
    found = [(partial_of(row.path, row.run_id), row.state != "interrupted") for row in rows]
    return tuple(str(path) for path, spare in found if remove_partial(path, grace, spare_judged=spare))
