"""What was seen of each candidate, in a file that survives whatever ends us.

Lines of JSON: the first names the terms (what else the answers depend on), each other one run of a candidate. Each
carries the digest of itself and all before it, so a line that was changed, lost or moved is seen. The last line may be
torn, as a crash leaves it; it is cut off. A journal speeds up; it proves nothing: the result is run again afresh.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.errors import EvidenceAltered, SetupError, UsageError, printable

FORMAT = "runner.shrink/1"
MAX_BYTES = 64 << 20
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
Seen = frozenset[str] | None
"""IDs of the recorded failures that one run showed; ``None``: no verdict."""


def name_of(terms: Mapping[str, Any]) -> str:
    """The file name for these terms."""
    return sha256(_canonical(terms)).hexdigest()[:32] + ".jsonl"


class Journal:
    """An open journal. ``entries`` are what it held when it was opened, in the order of writing."""

    def __init__(self, descriptor: int, path: Path, terms: Mapping[str, Any]) -> None:
        self._descriptor = descriptor
        self._name = printable(str(path))
        self._chain = ""
        self.entries: tuple[tuple[str, Seen], ...] = ()
        raw = self._read()
        whole = raw[:raw.rfind(b"\n") + 1]
        if len(whole) < len(raw):
            os.ftruncate(descriptor, len(whole))
        lines = [self._checked(number, line) for number, line in enumerate(whole.splitlines(), 1)]
        if not lines:
            self._write({"format": FORMAT, "terms": dict(terms)})
        elif lines[0] != {"format": FORMAT, "terms": json.loads(_canonical(terms))}:
            raise UsageError(f"{self._name}: the journal of another incident, payload, image or policy",
                             hint="remove it, or move it away")
        self.entries = tuple(self._entry(number, line) for number, line in enumerate(lines[1:], 2))

    def append(self, candidate: str, seen: Seen) -> None:
        """One more run, on the disk when this returns. Raises SetupError."""
        self._write({"candidate": candidate, "seen": None if seen is None else sorted(seen)})

    def _read(self) -> bytes:
        size = os.fstat(self._descriptor).st_size
        if size > MAX_BYTES:
            raise UsageError(f"{self._name}: {size} bytes, no journal of ours", hint="remove it, or move it away")
        return os.pread(self._descriptor, size, 0)

    def _write(self, body: dict[str, Any]) -> None:
        """A whole line or none, whatever interrupts it."""
        before, size = self._chain, os.fstat(self._descriptor).st_size
        self._chain = _link(before, body)
        line = _canonical({**body, "chain": self._chain}) + b"\n"
        try:
            if os.write(self._descriptor, line) != len(line):
                raise SetupError(f"{self._name}: cannot be written: no room")
            os.fsync(self._descriptor)
        except BaseException as error:
            self._chain = before
            os.ftruncate(self._descriptor, size)
            if isinstance(error, OSError):
                raise SetupError(f"{self._name}: cannot be written: {error.strerror}") from None
            raise

    def _checked(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            body = json.loads(line)
            chain = body.pop("chain")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise self._altered(number) from None
        if chain != _link(self._chain, body):
            raise self._altered(number)
        self._chain = chain
        return dict(body)

    def _entry(self, number: int, line: dict[str, Any]) -> tuple[str, Seen]:
        match line:
            case {"candidate": str(candidate), "seen": None}:
                return candidate, None
            case {"candidate": str(candidate), "seen": [*seen]} if all(isinstance(item, str) for item in seen):
                return candidate, frozenset(seen)
        raise self._altered(number)

    def _altered(self, number: int) -> EvidenceAltered:
        return EvidenceAltered(f"{self._name}: line {number} is not what was written there",
                               hint="remove the file to start over")


@contextmanager
def open_journal(path: Path, terms: Mapping[str, Any]) -> Iterator[Journal]:
    """Make or resume the journal at ``path``; nobody else can meanwhile.

    Raises UsageError where it is in use, another's or no file of ours, EvidenceAltered where it was changed,
    SetupError where it cannot be written.
    """
    descriptor = _open(path)
    try:
        yield Journal(descriptor, path, terms)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    name = printable(str(path))
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        raise UsageError(f"{name}: the journal cannot be used: {error.strerror}") from None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
            raise UsageError(f"{name}: not a file that only you can write", hint="move it away")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise UsageError(f"{name}: this is being shrunk by another process", hint="wait for it to end") from None
        raise
    return descriptor


def _canonical(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _link(before: str, body: Mapping[str, Any]) -> str:
    return sha256(before.encode() + b"\n" + _canonical(body)).hexdigest()
