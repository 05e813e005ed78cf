"""The index of a store: which replays there are, and the event log of each, as confirmed.

What this says, a kill cannot take back: every change is one transaction. Standard library only, because listing
thousands of runs must cost no more than starting the program.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from runner.errors import EvidenceAltered, UsageError, printable
from runner.evidence.database import is_store, open_database, store_errors

if TYPE_CHECKING:
    from runner.evidence.events import Event

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
STATES = ("running", "finished", "interrupted", "failed", "killed")
VERDICTS = ("reproduced", "not_reproduced", "no_verdict", "recorded", "pass", "fail", "inconclusive", "error")
_SEE = "`runner runs list` shows the runs that are there"
_REGISTER = ("INSERT INTO runs (run_id, directory, started, command, report, report_sha256, backend, runs) "
             "VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
_FINISH = ("UPDATE runs SET state = 'finished', finished = ?, verdict = ?, exit_code = ?, passes = ?, duration = ?, "
           "result_sha256 = ?, events_count = ?, events_head = ?, bytes = ? WHERE run_id = ?")


class Opening(NamedTuple):
    """What is known of a replay before anything runs. ``directory`` is where its evidence will be, absolute."""

    run_id: str
    directory: bytes
    started: str
    command: str
    report: str
    report_sha256: str
    backend: str
    runs: int


class Closing(NamedTuple):
    """What is known at the end. ``duration`` in seconds, ``bytes`` of all files, ``result_sha256`` of the file."""

    finished: str
    verdict: str
    exit_code: int
    passes: int
    duration: float
    result_sha256: str
    events_count: int
    events_head: str
    bytes: int


class Row(NamedTuple):
    """One replay. What comes with the end is ``None`` until then."""

    run_id: str
    directory: bytes
    state: str
    started: str
    command: str
    report: str
    report_sha256: str
    backend: str
    runs: int
    finished: str | None
    verdict: str | None
    exit_code: int | None
    passes: int | None
    duration: float | None
    result_sha256: str | None
    events_count: int | None
    events_head: str | None
    bytes: int | None

    @property
    def path(self) -> Path:
        """Where its evidence is, once it has finished."""
        return Path(os.fsdecode(self.directory))


class Index:
    """An open index. Use as a context manager, in one thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._open = open_database(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @contextmanager
    def transaction(self, *, lasting: bool = True) -> Iterator[sqlite3.Connection]:
        """All or nothing; no kill can take it back, and if it is ``lasting``, no loss of power either.

        What is not lasting comes to the disk with the next one that is, and its loss is repaired: it costs no wait
        for the disk. Raises UsageError, SetupError.
        """
        with store_errors(self.root):
            self._open.execute(f"PRAGMA synchronous={'FULL' if lasting else 'NORMAL'}")
            self._open.execute("BEGIN IMMEDIATE")
            try:
                yield self._open
                self._open.execute("COMMIT")
            finally:
                if self._open.in_transaction:
                    self._open.execute("ROLLBACK")

    def register(self, opening: Opening, events: Sequence[Event] = ()) -> None:
        """A replay begins, with the first events of its log. Nothing that could be lost has happened yet."""
        with self.transaction(lasting=False) as connection:
            connection.execute(_REGISTER, opening)
            _append(connection, events)

    def append(self, event: Event) -> None:
        """Confirm an event: once this returns, a kill cannot take it back."""
        with self.transaction() as connection:
            _append(connection, (event,))

    def finish(self, run_id: str, closing: Closing) -> None:
        """The evidence is in its place. Were this lost, the last event would tell it again."""
        with self.transaction(lasting=False) as connection:
            connection.execute(_FINISH, (*closing, run_id))

    def end(self, run_id: str, state: str, moment: str) -> None:
        """The replay ended without a result: ``interrupted``, ``failed`` or ``killed``."""
        with self.transaction() as connection:
            connection.execute("UPDATE runs SET state = ?, finished = ? WHERE run_id = ? AND state = 'running'",
                               (state, moment, run_id))

    def query(self, text: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Rows of a SELECT. Raises UsageError."""
        with store_errors(self.root):
            return self._open.execute(text, values).fetchall()

    def has_unsettled(self) -> bool:
        """Whether any replay runs, or was cut short by a kill, or a removal was."""
        return bool(self.query("SELECT 1 WHERE EXISTS (SELECT 1 FROM runs WHERE state = 'running') "
                               "OR EXISTS (SELECT 1 FROM removals WHERE files_gone = 0)"))

    def select(self, columns: str, where: str = "1", values: Sequence[object] = (),
               limit: int = -1) -> list[tuple[Any, ...]]:
        """Columns of the replays, newest first. ``columns`` and ``where`` are ours, ``values`` are a user's words."""
        return self.query(f"SELECT {columns} FROM runs WHERE {where} "  # noqa: S608  see above
                          "ORDER BY started DESC, run_id DESC LIMIT ?", (*values, limit))

    def rows(self, where: str = "1", values: Sequence[object] = (), limit: int = -1) -> list[Row]:
        """Replays in full, newest first."""
        return [Row._make(each) for each in self.select(", ".join(Row._fields), where, values, limit)]

    def lines(self, run_id: str) -> list[bytes]:
        """The confirmed events of a replay, in order, as they were written. Raises EvidenceAltered."""
        found = self.query("SELECT line, sha256 FROM events WHERE run_id = ? ORDER BY seq", (run_id,))
        lines = [str(line).encode() for line, _ in found]
        for seq, (line, (_, digest)) in enumerate(zip(lines, found, strict=True), 1):
            if sha256(line).hexdigest() != digest:
                raise EvidenceAltered(f"{printable(run_id)}: event {seq} in the index was altered")
        return lines


def _append(connection: sqlite3.Connection, events: Sequence[Event]) -> None:
    connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", (
        (event.run_id, event.seq, event.at, event.kind, event.line().decode(), event.digest(), event.previous)
        for event in events))


def find_run(reference: str, store: Path) -> Path:
    """The run directory that a reference names: ``latest``, a run id, a path, or the beginning of exactly one id.

    The first of these that is there counts. Raises UsageError when none is, or the run has no result;
    EvidenceAltered when the directory is not the one that the index knows.
    """
    if is_store(store):
        with Index(store) as index:
            row = resolve(index, reference)
        if row is not None:
            return checked_directory(row)
    if os.path.isdir(reference):
        return Path(reference)
    raise UsageError(f"{printable(reference)[:200]}: no such run, and no run directory", hint=_SEE)


def resolve(index: Index, reference: str) -> Row | None:
    """The replay that a reference names; ``None`` for a directory that the index does not know. Raises UsageError."""
    found = _exactly(index, reference)
    if not found and os.path.isdir(reference):
        place = os.fsencode(os.path.abspath(reference))
        return next(iter(index.rows("state = 'finished' AND directory = ?", (place,))), None)
    return found[0] if found else _by_beginning(index, reference)


def _exactly(index: Index, reference: str) -> list[Row]:
    if reference == "latest":
        return index.rows("state = 'finished'", limit=1)
    return index.rows("run_id = ?", (reference,)) if reference.isascii() else []


def _by_beginning(index: Index, reference: str) -> Row:
    shown = printable(reference)[:200]
    found = []
    if reference.isascii() and reference:
        found = index.rows("substr(run_id, 1, ?) = ?", (len(reference), reference))
    if not found:
        raise UsageError(f"no run {shown} in {printable(str(index.root))}", hint=_SEE)
    if len(found) > 1:
        names = ", ".join(printable(row.run_id) for row in found[:3])
        raise UsageError(f"{shown} is the beginning of {len(found)} runs: {names}{' …' if len(found) > 3 else ''}",
                         hint="give more of the id")
    return found[0]


def checked_directory(row: Row) -> Path:
    """The directory of a finished replay, with the very result that the index knows.

    Raises UsageError, EvidenceAltered.
    """
    name, shown = printable(row.run_id), printable(str(row.path))
    if row.state != "finished":
        raise UsageError(f"{name} has no result: it is {row.state}",
                         hint=f"`runner runs show {name}` shows what was confirmed of it")
    try:
        found = result_digest(row.path)
    except OSError as error:
        raise EvidenceAltered(f"{shown}: the evidence of {name} cannot be read: {error.strerror}",
                              hint=f"if it is gone for good, `runner runs rm {name}`") from None
    if found != row.result_sha256:
        raise EvidenceAltered(f"{shown}: this is not the evidence that was stored as {name}",
                              hint="it was altered, or swapped for another; replay the report again")
    return row.path


def result_digest(directory: Path) -> str:
    """SHA-256 of the result in a directory; no link is followed. Raises OSError."""
    folder = os.open(directory, _READ | os.O_DIRECTORY)
    try:
        with os.fdopen(os.open("result.json", _READ, dir_fd=folder), "rb") as file:
            return sha256(file.read()).hexdigest()
    finally:
        os.close(folder)
