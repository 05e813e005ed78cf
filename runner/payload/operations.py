"""What the steward does: one method an operation, each on directories that nothing else touches meanwhile.

An operation sends ITEM and DATA frames as it goes and returns the fields of its DONE frame. Volumes are
directories named 1, 2, 3…; the sealed payload lies in a directory of its own, from which they are cloned.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from runner.errors import RunnerError, SeedMismatch, StewardLost, printable
from runner.payload import frames
from runner.payload.confinement import confinement
from runner.payload.copy import OWN_TREE, clone, unpack, wipe
from runner.payload.fingerprint import Change, Fingerprint, Manifest
from runner.payload.inbox import Inbox
from runner.payload.limits import held_limits
from runner.payload.mounts import mount_of
from runner.payload.tree import SealLimits
from runner.payload.volume import MAX_READ, WORKED_TREE, Collector, changes_since, look

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Fields = tuple[bytes, ...]


class Places(NamedTuple):
    """Where the steward finds its mounts; ``scratch`` and ``shm`` are there to be looked at only."""

    pristine: str
    volumes: str
    tools: str
    scratch: str = "/tmp"  # noqa: S108  a mount of its own
    shm: str = "/dev/shm"  # noqa: S108

    def volume(self, number: int) -> str:
        """The directory of a volume, from 1."""
        return f"{self.volumes}/{number}"


class Operations:
    """Serves requests one at a time. ``send`` takes whole frames."""

    def __init__(self, places: Places, inbox: Inbox, send: Callable[[bytes], object]) -> None:
        self._places = places
        self._inbox = inbox
        self._send = send
        self._sealed: Manifest | None = None
        self._table: dict[bytes, Callable[..., Fields]] = {
            b"hello": self.hello, b"put": self.put, b"clone": self.clone, b"fingerprint": self.fingerprint,
            b"changes": self.changes, b"get": self.get, b"usage": self.usage, b"wipe": self.wipe}

    def answer(self, request: Fields) -> bytes:
        """Serve a request; the frame that ends the answer. Raises FrameError for one that makes no sense.

        What fails is told in a FAILED frame: the steward itself lives on.
        """
        name, *arguments = request
        if name not in self._table:
            raise frames.FrameError("an unknown operation")
        try:
            return frames.encode(frames.DONE, *self._table[name](*arguments))
        except (OSError, RunnerError, MemoryError, OverflowError) as error:
            code = SeedMismatch.code if name in (b"put", b"clone", b"fingerprint") else StewardLost.code
            what = str(error) if isinstance(error, RunnerError) else f"{type(error).__name__}: {error}"
            return frames.encode(frames.FAILED, code.encode(), frames.text(f"{name.decode()}: {printable(what)}"))
        finally:
            self._inbox.drain()

    def hello(self) -> Fields:
        """An ITEM for pristine, scratch, shared memory and each volume; then protocol, SHA-256 of the init, limits
        (empty: unknown), confinement.
        """
        paths = [self._places.pristine, self._places.scratch, self._places.shm]
        for number in range(1, frames.MAX_VOLUMES + 1):
            if not os.path.isdir(self._places.volume(number)):
                break
            paths.append(self._places.volume(number))
        for path in paths:
            mount, status = mount_of(path), os.statvfs(path)
            self._send(frames.encode(frames.ITEM, frames.decimal(status.f_blocks * status.f_frsize),
                                     frames.decimal(status.f_files), frames.text(mount.fstype),
                                     frames.text(",".join(mount.options))))
        held = [b"" if limit is None else frames.decimal(limit) for limit in held_limits()]
        return frames.decimal(frames.PROTOCOL), _digest_of(f"{self._places.tools}/init"), *held, *_confinement_fields()

    def put(self, *limits: bytes) -> Fields:
        """Unpack the stream into pristine, once; answers the fingerprint of what is there then."""
        if self._sealed is not None:
            raise SeedMismatch("the payload was already put")
        files, size, depth, name_bytes, path_bytes = map(frames.number, limits)
        with _Directory(self._places.pristine) as root_fd:
            unpack(self._inbox.read, root_fd, SealLimits(files, size, depth, name_bytes, path_bytes))
            if self._inbox.drain():
                raise SeedMismatch("there are bytes after the end of the payload stream")
            seen = look(root_fd, OWN_TREE, MAX_READ)
        if seen.note:
            raise SeedMismatch(f"the payload cannot be read back: {seen.note}")
        self._sealed = seen.manifest
        return _fingerprint_fields(seen.manifest.fingerprint())

    def clone(self, number: bytes) -> Fields:
        """Copy pristine into an empty volume."""
        self._pristine_manifest()
        with _Directory(self._places.pristine) as source, self._volume(number) as target:
            clone(source, target)
        return ()

    def fingerprint(self, number: bytes) -> Fields:
        """The fingerprint of a whole volume."""
        with self._volume(number) as root_fd:
            seen = look(root_fd, WORKED_TREE, _size(root_fd))
        if seen.note:
            raise SeedMismatch(f"the volume cannot be fingerprinted: {seen.note}")
        return _fingerprint_fields(seen.manifest.fingerprint())

    def changes(self, number: bytes) -> Fields:
        """An ITEM for each change since pristine; then a note, and the fingerprint unless a cap was hit."""
        before = self._pristine_manifest()
        with self._volume(number) as root_fd:
            seen = look(root_fd, WORKED_TREE, _size(root_fd))
        changes = changes_since(before, seen)
        listed = self._send_changes(changes)
        notes = [seen.note] if seen.note else []
        if listed < len(changes):
            notes.append(f"too_many_changes: {listed} of {len(changes)} listed")
        after = () if seen.note else _fingerprint_fields(seen.manifest.fingerprint())
        return frames.text("; ".join(notes)), *after

    def _send_changes(self, changes: tuple[Change, ...]) -> int:
        """Send as many as the caps allow; returns how many."""
        room = frames.MAX_CHANGE_TEXT
        for index, change in enumerate(changes[:frames.MAX_CHANGES]):
            fields = change.kind.encode(), change.path, frames.text(change.detail)
            room -= sum(map(len, fields))
            if room < 0:
                return index
            self._send(frames.encode(frames.ITEM, *fields))
        return min(len(changes), frames.MAX_CHANGES)

    def get(self, number: bytes, max_files: bytes, max_bytes: bytes, *patterns: bytes) -> Fields:
        """For each declared file an ITEM with path and size, and its DATA; then a note on what was skipped."""
        collector = Collector(patterns, frames.number(max_files), frames.number(max_bytes))
        with self._volume(number) as root_fd:
            for piece in collector.pieces(root_fd, WORKED_TREE):
                if piece.first:
                    self._send(frames.encode(frames.ITEM, piece.found.path, frames.decimal(piece.found.size)))
                else:
                    self._send(frames.raw(frames.DATA, piece.data))
        return (frames.text(collector.note),)

    def usage(self, number: bytes) -> Fields:
        """statfs: bytes in all and free, inodes in all and free."""
        with self._volume(number) as root_fd:
            status = os.statvfs(root_fd)
        return tuple(map(frames.decimal, (status.f_blocks * status.f_frsize, status.f_bavail * status.f_frsize,
                                          status.f_files, status.f_favail)))

    def wipe(self, number: bytes) -> Fields:
        """Empty a volume."""
        with self._volume(number) as root_fd:
            wipe(root_fd)
        return ()

    def _pristine_manifest(self) -> Manifest:
        if self._sealed is None:
            raise SeedMismatch("there is no payload yet")
        return self._sealed

    def _volume(self, number: bytes) -> _Directory:
        return _Directory(self._places.volume(frames.number(number)))


class _Directory:
    """A descriptor of a directory, for the length of a ``with``."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def __enter__(self) -> int:
        self._fd = os.open(self._path, _DIRECTORY)
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def _size(root_fd: int) -> int:
    """Bytes that the files of a volume can have in all, unless they are sparse or linked more than once."""
    status = os.statvfs(root_fd)
    return status.f_blocks * status.f_frsize


def _fingerprint_fields(fingerprint: Fingerprint) -> Fields:
    exact, content, *counts = fingerprint
    return exact.encode(), content.encode(), *map(frames.decimal, counts)


def _confinement_fields() -> Fields:
    held = confinement()
    return (frames.text(held.kernel), frames.text(held.user), frames.decimal(held.capabilities),
            frames.decimal(held.no_new_privileges), frames.decimal(held.read_only_root),
            frames.text(",".join(held.interfaces)))


def _digest_of(path: str) -> bytes:
    """Lowercase hex; empty when the file cannot be read."""
    try:
        with open(path, "rb") as file:
            return sha256(file.read()).hexdigest().encode()
    except OSError:
        return b""
