"""Sealing: one look at a payload that refuses what must not travel, and fixes what it is.

The caller's directory is only ever read: nothing is written, and access times stay where the system allows.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from runner.errors import PayloadChanged, PayloadRefused, printable
from runner.payload.access import open_directory
from runner.payload.fingerprint import Fingerprint, Manifest, diff
from runner.payload.hashing import read_files
from runner.payload.names import collisions
from runner.payload.rules import MESSAGES, judge
from runner.payload.sealed import SealedPayload, check_unchanged
from runner.payload.stream import Chunk, tar_stream
from runner.payload.tree import Caps, Found, Kind, Problem, SealLimits, walk

__all__ = ["DEFAULT_LIMITS", "DirectorySource", "PayloadPath", "Refusal", "SealLimits", "SealedPayload", "Survey",
           "check_unchanged", "scan", "seal", "survey"]

PayloadPath = str | bytes | os.PathLike[str]

DEFAULT_LIMITS = SealLimits(files=100_000, bytes=1 << 30, depth=64, name_bytes=255, path_bytes=4096)
"""What is sealed where no policy says otherwise."""

_UNFIT_FOR_HASHING = frozenset({"unreadable", "too_large", "device", "fifo", "socket", "too_deep", "path_too_long",
                                "name_too_long"})


class DirectorySource:
    """A payload in the caller's directory, which is only ever read."""

    file_sha256 = None

    def __init__(self, path: bytes) -> None:
        self.path = path

    def stream(self, manifest: Manifest, prefix: bytes) -> Generator[Chunk]:
        """Read every file anew."""
        with opened(self.path) as root_fd:
            yield from tar_stream(root_fd, manifest, prefix)

    def check_unchanged(self, manifest: Manifest, limits: SealLimits) -> None:
        """Walk and read the directory again."""
        try:
            again = seal(self.path, limits)
        except PayloadRefused as error:
            raise PayloadChanged(f"the payload changed since it was sealed: {error.message}") from error
        if again.manifest == manifest:
            return
        changes = diff(manifest, again.manifest)
        if changes:
            kind, path, detail = changes[0]
            where = f"{printable(path)} ({kind}: {detail})"
        else:
            pairs = zip(manifest.entries, again.manifest.entries, strict=True)
            where = next(printable(was.path) for was, now in pairs if was != now) + " (another time)"
        raise PayloadChanged(f"the payload changed since it was sealed: {where}",
                             hint="nothing may write to the payload while it is used")


class Refusal(NamedTuple):
    """Why an entry is refused: the rule's name, the path (empty for the root), one printable line."""

    rule: str
    path: bytes
    message: str


class Survey(NamedTuple):
    """What sealing would say of a directory.

    ``fingerprint`` is ``None`` where the tree was not read as a whole (a cap, an unreadable or special file).
    """

    refusals: tuple[Refusal, ...]
    entries: int
    files: int
    bytes: int
    fingerprint: Fingerprint | None


def seal(path: PayloadPath, limits: SealLimits) -> SealedPayload:
    """Walk once without following links, judge every entry, and fingerprint the tree.

    Raises PayloadRefused, naming the rule and the first path that breaks one, and PayloadChanged.
    """
    root = root_path(path)
    with opened(root) as root_fd:
        found = scan(root_fd, limits)
        entries, problems = read_files(root_fd, found, max_bytes=limits.bytes)
    if problems:
        raise _refused(problems[0])
    return SealedPayload(DirectorySource(root), Manifest(entries), limits)


def survey(path: PayloadPath, limits: SealLimits) -> Survey:
    """Everything that sealing would refuse, instead of the first, with counts. Raises PayloadChanged."""
    try:
        with opened(root_path(path)) as root_fd:
            return _survey(root_fd, limits)
    except PayloadRefused as error:
        return Survey((Refusal(error.rule, error.path, error.message),), 0, 0, 0, None)


def _survey(root_fd: int, limits: SealLimits) -> Survey:
    found, problems, complete = _look(root_fd, limits)
    sizes = [item.size for item in found if item.kind is Kind.FILE]
    fingerprint = None
    if complete and not any(problem.rule in _UNFIT_FOR_HASHING for problem in problems):
        entries, unread = read_files(root_fd, found, max_bytes=limits.bytes)
        problems += unread
        fingerprint = None if unread else Manifest(entries).fingerprint()
    refusals = tuple(Refusal(problem.rule, problem.path, _message(problem)) for problem in problems)
    return Survey(refusals, len(found), len(sizes), sum(sizes), fingerprint)


def scan(root_fd: int, limits: SealLimits) -> list[Found]:
    """What is below an open root, judged. Raises PayloadRefused for the first problem, PayloadChanged."""
    found, problems, _ = _look(root_fd, limits)
    if problems:
        raise _refused(problems[0])
    return found


def _look(root_fd: int, limits: SealLimits) -> tuple[list[Found], list[Problem], bool]:
    caps = Caps(limits.files, limits.depth, limits.name_bytes, limits.path_bytes)
    found, problems, complete = walk(root_fd, caps)
    if complete:  # of half a tree one cannot say where its links lead
        problems += judge(found, limits)
        if limits.portable_names:
            problems += collisions(item.path for item in found)
    problems.sort(key=lambda problem: problem.path)
    return found, problems, complete


def root_path(path: PayloadPath) -> bytes:
    """A payload's path as bytes, without the trailing slashes that would make the system follow a link."""
    raw = os.fsencode(path)
    while len(raw) > 1 and raw.endswith((b"/", b"/.")):
        raw = raw[:-1]
    return raw


@contextmanager
def opened(root: bytes) -> Iterator[int]:
    """A descriptor of the payload's directory. Raises PayloadRefused, also for a system that cannot read on."""
    root_fd = _open_root(root)
    try:
        yield root_fd
    except OSError as error:
        raise _refused(Problem("unreadable", b"", error.strerror or "")) from error
    finally:
        os.close(root_fd)


def _open_root(root: bytes) -> int:
    try:
        return open_directory(root)
    except OSError as error:
        rule = "root_is_link" if os.path.islink(root) else "root_not_directory"
        if isinstance(error, PermissionError):
            rule = "unreadable"
        message = f"payload {printable(root)} {MESSAGES[rule]} ({error.strerror})"
        raise PayloadRefused(message, rule=rule, path=b"", hint="give a directory that holds the payload") from error
    except ValueError as error:
        raise PayloadRefused("the payload's path holds a NUL byte", rule="root_not_directory", path=b"") from error


def _message(problem: Problem) -> str:
    detail = f"; {problem.detail}" if problem.detail else ""
    where = printable(problem.path) or "."
    return f"payload entry {where} {MESSAGES[problem.rule]} (rule {problem.rule}{detail})"


def _refused(problem: Problem) -> PayloadRefused:
    return PayloadRefused(_message(problem), rule=problem.rule, path=problem.path,
                          hint="runner fingerprint DIR lists everything that sealing refuses")
