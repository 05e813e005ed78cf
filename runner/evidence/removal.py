"""Removing runs, in an order that a kill at any moment leaves whole: first the index forgets the run and notes that it
did (``migrations/0003_removals.sql``), then the directory gets a name that nobody takes for a run, then it goes.
What a kill interrupts is finished by the next :func:`finish_removals`.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from runner.errors import EvidenceAltered, UsageError, printable
from runner.evidence.events import START
from runner.evidence.index import Index, Row, checked_directory, result_digest
from runner.evidence.leftovers import partial_of, wipe_directory
from runner.evidence.recovery import now

_REMOVAL = ("INSERT INTO removals (run_id, at, directory, events_count, events_head, result_sha256) "
            "VALUES (?, ?, ?, ?, ?, ?)")
_HEAD = "SELECT seq, sha256 FROM events WHERE run_id = ? ORDER BY seq DESC LIMIT 1"


def remove_run(index: Index, row: Row) -> None:
    """Forget a replay that has ended and remove its directory, if that is the one the index knows.

    Raises UsageError when it still runs or cannot be removed, EvidenceAltered when something else is in the
    directory's place: then nothing is touched.
    """
    name, place = printable(row.run_id), place_of(row)
    if row.state == "running":
        raise UsageError(f"{name} is still running", hint="interrupt it first")
    if place is not None:
        _check(row, place)
    count, head = next(iter(index.query(_HEAD, (row.run_id,))), (0, START))
    with index.transaction() as connection:
        connection.execute(_REMOVAL, (row.run_id, now(), os.fsencode(place or row.path), count, head,
                                      row.result_sha256))
        connection.execute("DELETE FROM events WHERE run_id = ?", (row.run_id,))
        connection.execute("DELETE FROM runs WHERE run_id = ?", (row.run_id,))
    try:
        _remove_files(index, row.run_id, place)
    except OSError as error:
        raise UsageError(f"{name}: its directory cannot be removed: {error.strerror}",
                         hint=f"the run is forgotten; remove {printable(str(place))} yourself") from None


def finish_removals(index: Index) -> None:
    """Remove the directories of runs whose removal was begun and not finished."""
    for run_id, directory, digest in index.query(
            "SELECT run_id, directory, result_sha256 FROM removals WHERE files_gone = 0"):
        place = Path(os.fsdecode(directory))
        with suppress(OSError):  # told when it was begun; another start tries again
            _remove_files(index, run_id, place if _is_still(run_id, place, digest) else None)


def place_of(row: Row) -> Path | None:
    """Where the run's files are, if anywhere."""
    partial = partial_of(row.path, row.run_id)
    if os.path.lexists(partial):
        return partial
    return row.path if row.state == "finished" and os.path.lexists(row.path) else None


def _check(row: Row, place: Path) -> None:
    """That the directory is the run's, and that it can go."""
    if place == row.path:
        try:
            checked_directory(row)
        except EvidenceAltered as error:
            raise EvidenceAltered(error.message, hint="nothing was removed; move that directory away first") from None
    shown = printable(str(place))
    try:
        foreign = _foreign(place)
    except OSError as error:
        raise UsageError(f"{shown}: cannot be looked at: {error.strerror}", hint="nothing was removed") from None
    if foreign is not None:
        raise UsageError(f"{shown}: holds {printable(foreign)}, which is no part of a run",
                         hint="nothing was removed; move it away first")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{shown}: cannot be removed: no permission")


def _foreign(place: Path, inner: str = "artifacts") -> str | None:
    """A name that no run directory holds: anything hidden but a write of ours that was cut short, and any directory
    but that of the artifacts. So neither a home nor a checkout looks like a run, whatever an index says.

    Raises OSError, for a link too.
    """
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                directory = entry.is_dir(follow_symlinks=False)
                hidden = entry.name.startswith(".") and (directory or not entry.name.endswith(".tmp"))
                if hidden or (directory and entry.name != inner):
                    return entry.name
                if directory and (found := _foreign(place / inner, inner="")) is not None:
                    return f"{inner}/{found}"
        return None
    finally:
        os.close(folder)


def _is_still(run_id: str, place: Path, digest: str | None) -> bool:
    """Whether the directory whose removal was begun is there: a place that --out named may be another's by now."""
    try:
        if _foreign(place) is not None:
            return False
        return place.name == partial_of(place, run_id).name or result_digest(place) == digest
    except OSError:
        return False


def _remove_files(index: Index, run_id: str, place: Path | None) -> None:
    """``place``: under the name it had. A directory that has its last name already is found by it."""
    parents = index.query("SELECT directory FROM removals WHERE run_id = ?", (run_id,))
    doomed = Path(os.fsdecode(parents[0][0])).parent / f".{run_id}.removed"
    if place is not None:
        os.rename(place, doomed)
    wipe_directory(doomed)
    with index.transaction(lasting=False) as connection:
        connection.execute("UPDATE removals SET files_gone = 1 WHERE run_id = ?", (run_id,))
