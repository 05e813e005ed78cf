"""The store's SQLite file: where it lies, whose it is, and bringing it to the present schema.

WAL lets readers and one writer work at once; ``synchronous=FULL`` makes each commit last. A schema change is a
numbered file in ``migrations/``, applied once, under a lock. Standard library only: listings must start fast.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from runner.errors import SetupError, UsageError, printable

MIGRATIONS = ("0001_runs.sql", "0002_events.sql", "0003_removals.sql")
HINT = "set RUNNER_STORE to a directory of yours"
_NO_DIRECTORY = "the store is a link or no directory"
_FOLDER = Path(__file__).with_name("migrations")
_OLDEST_SQLITE = (3, 37)
"""The first with STRICT tables."""

_BUSY_SECONDS = 60.0
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PRIVATE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_SETTINGS = ("foreign_keys=ON", "synchronous=FULL", "recursive_triggers=ON", "trusted_schema=OFF", "cell_size_check=ON")


def store_root() -> Path:
    """The store of this process: ``.runner`` in the current directory, or what RUNNER_STORE names. Absolute."""
    return Path(os.environ.get("RUNNER_STORE") or ".runner").absolute()


def is_store(root: Path) -> bool:
    """Whether there is a store at all; nothing is made. Raises UsageError where none can be, or none can be seen."""
    if os.path.lexists(root) and not os.path.isdir(root):
        raise UsageError(f"{printable(str(root))}: {_NO_DIRECTORY}", hint=HINT)
    try:
        os.lstat(root / "index.db")
    except PermissionError as error:
        raise UsageError(f"{printable(str(root))}: the store cannot be used: {error.strerror}", hint=HINT) from None
    except (OSError, ValueError):
        return False
    return True


def open_database(root: Path, migrations: tuple[str, ...] = MIGRATIONS) -> sqlite3.Connection:
    """Open the index of a store, made or brought up to date first where need be.

    Raises UsageError when the place cannot be a store of ours or its schema is newer, SetupError when it fails.
    """
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise SetupError(f"this Python has SQLite {sqlite3.sqlite_version}; the store needs "
                         f"{'.'.join(map(str, _OLDEST_SQLITE))}", hint="use a newer build of Python")
    with store_errors(root):
        make_root(root)
        known = _check_files(root)
        connection = _connect(root) if known else None
        if connection is None or schema_version(connection) != len(migrations):
            if connection is not None:
                connection.close()
            connection = _migrated(root, migrations)
        return connection


def make_root(root: Path) -> None:
    """The store's directory: private if it is new, else ours and writable by nobody else; no link.

    A new or empty one becomes invisible to git. What was there already keeps its mode and gets no such file, since
    a mistyped RUNNER_STORE may name any directory of the system. Raises UsageError, OSError.
    """
    if not os.path.lexists(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = _open_root(root)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise UsageError(f"{printable(str(root))}: the store belongs to another user", hint=HINT)
        if found.st_mode & 0o022:
            raise UsageError(f"{printable(str(root))}: others can write to the store's directory",
                             hint=f"chmod go-w it, or {HINT}")
        if not os.listdir(descriptor):
            ignore = os.open(".gitignore", _PRIVATE, 0o600, dir_fd=descriptor)
            os.write(ignore, b"*\n")
            os.close(ignore)
    finally:
        os.close(descriptor)


def schema_version(connection: sqlite3.Connection) -> int:
    """How many migrations have been applied; 0 for a file without any."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchall():
        return 0
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM migrations").fetchone()[0])


@contextmanager
def store_errors(root: Path) -> Iterator[None]:
    """Turn what the file system and SQLite say into one clear line."""
    name = printable(str(root))
    try:
        yield
    except OSError as error:
        raise UsageError(f"{name}: the store cannot be used: {error.strerror}", hint=HINT) from None
    except sqlite3.IntegrityError as error:
        raise SetupError(f"{name}: the store refuses this: {printable(str(error))}") from None
    except sqlite3.OperationalError as error:
        raise UsageError(f"{name}: the store cannot be used: {printable(str(error))}", hint=HINT) from None
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{name}: index.db is damaged, or no store of runner: {printable(str(error))}",
                         hint=f"move it away, or {HINT}") from None


def _open_root(root: Path) -> int:
    try:
        return os.open(root, _DIRECTORY)
    except NotADirectoryError:
        raise UsageError(f"{printable(str(root))}: {_NO_DIRECTORY}", hint=HINT) from None


def _check_files(root: Path) -> bool:
    """Whether the index is there; a file in its place that was not made here is refused."""
    for name in ("index.db", "index.db-wal", "index.db-shm"):
        try:
            found = os.lstat(root / name)
        except FileNotFoundError:
            if name == "index.db":
                return False
            continue
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise UsageError(f"{printable(str(root / name))}: not a private file of yours, so not made by runner",
                             hint=f"if you trust it, chmod 600 it; otherwise {HINT}")
    return True


def _connect(root: Path) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(root / 'index.db'))}?mode=rw"
    connection = sqlite3.connect(uri, timeout=_BUSY_SECONDS, isolation_level=None, uri=True)
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    return connection


def _migrated(root: Path, migrations: tuple[str, ...]) -> sqlite3.Connection:
    """One process at a time: another one may have done it, or a part of it, before we got the lock."""
    lock = _open_root(root)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.close(os.open("index.db", _PRIVATE, 0o600, dir_fd=lock))
        connection = _connect(root)
        version = schema_version(connection)
        if version > len(migrations):
            raise UsageError(f"{printable(str(root))}: the store was made by a newer runner (schema {version}, "
                             f"this one knows {len(migrations)})", hint=f"update runner, or {HINT}")
        connection.execute("PRAGMA journal_mode=WAL")
        for number in range(version + 1, len(migrations) + 1):
            _apply(connection, number, migrations[number - 1])
        return connection
    finally:
        os.close(lock)


def _apply(connection: sqlite3.Connection, number: int, name: str) -> None:
    """All of a migration and its number, in one transaction."""
    text = (_FOLDER / name).read_text(encoding="utf-8")
    try:
        connection.executescript(
            "BEGIN IMMEDIATE;\nCREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
            f"at TEXT NOT NULL) STRICT;\n{text}\n"
            f"INSERT INTO migrations VALUES ({number}, '{name}', strftime('%Y-%m-%dT%H:%M:%SZ'));\nCOMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
