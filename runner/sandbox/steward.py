"""The client of the steward: typed calls over a byte channel to the container that holds a replay's volumes.

Our own steward is trusted to do its work, not to be infallible: whatever it says is parsed strictly and capped
here as well, and a word out of place ends the conversation with StewardLost. The protocol is described in
:mod:`runner.payload.frames`, the operations in :mod:`runner.payload.operations`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple, Protocol, get_args

from runner.errors import SeedMismatch, StewardLost, printable
from runner.evidence.observation import Artifact
from runner.payload import frames
from runner.payload.confinement import Confinement
from runner.payload.fingerprint import Change, ChangeKind, Fingerprint
from runner.payload.frames import Frame, FrameError, number
from runner.payload.limits import HeldLimits
from runner.payload.seal import SealedPayload

_KINDS: dict[str, ChangeKind] = {kind: kind for kind in get_args(ChangeKind)}
_HEX = frozenset("0123456789abcdef")
_MAX_PATH = 64 << 10
_FIXED_MOUNTS = 3
"""Pristine, scratch and shared memory come before the volumes."""


class Channel(Protocol):
    """A byte stream to the steward's stdin and from its stdout."""

    def send(self, data: bytes) -> None:
        """Send all of ``data``. Raises StewardLost."""

    def receive(self, count: int) -> bytes:
        """Exactly ``count`` bytes. Raises StewardLost."""


class MountFacts(NamedTuple):
    """A mount as the kernel sees it: bytes, inodes, file system, options of mount and superblock."""

    total_bytes: int
    inodes: int
    fstype: str
    options: tuple[str, ...]


class StewardHello(NamedTuple):
    """What the steward found in its container. ``volumes[0]`` is volume 1, ``scratch`` is its own ``/tmp``.

    ``init_sha256`` is lowercase hex, empty when there is no init in the tools volume.
    """

    protocol: int
    pristine: MountFacts
    scratch: MountFacts
    shm: MountFacts
    volumes: tuple[MountFacts, ...]
    init_sha256: str
    limits: HeldLimits
    confinement: Confinement


class ChangeList(NamedTuple):
    """What a run did to its tree. ``note`` names each cap that was hit; ``after`` is ``None`` if one kept a part
    of the tree from being read.
    """

    after: Fingerprint | None
    changes: tuple[Change, ...]
    note: str


class Collection(NamedTuple):
    """Declared artifacts in order of path; ``note`` says what was skipped and why."""

    artifacts: tuple[Artifact, ...]
    note: str


class Usage(NamedTuple):
    """statfs of a volume: bytes and inodes, in all and free."""

    total_bytes: int
    free_bytes: int
    inodes: int
    free_inodes: int


class Steward:
    """One operation at a time, from any thread. Volumes are numbered from 1.

    Every call raises StewardLost when the steward is gone, speaks out of turn or cannot do what was asked. After
    an operation that was broken off in the middle, no further one is tried.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = Lock()
        self._broken = False

    def hello(self) -> StewardHello:
        """What is mounted, and the digest of the init."""
        mounts: list[MountFacts] = []
        with self._conversation("hello") as talk:
            for frame in talk:
                total, inodes, fstype, options = frame.fields
                mounts.append(MountFacts(number(total), number(inodes), _text(fstype),
                                         tuple(_text(options).split(","))))
                _require(len(mounts) <= frames.MAX_VOLUMES + _FIXED_MOUNTS, "too many volumes")
            protocol, digest, *held = talk.result
            _require(number(protocol) == frames.PROTOCOL, "it speaks another protocol")
            _require(len(mounts) >= _FIXED_MOUNTS, "mounts are missing")
            _require(not digest or _is_digest(_text(digest)), "its hello is malformed")
            pristine, scratch, shm, *volumes = mounts
            limits = len(HeldLimits._fields)
            return StewardHello(frames.PROTOCOL, pristine, scratch, shm, tuple(volumes), _text(digest),
                                _limits(held[:limits]), _confinement(held[limits:]))

    def put(self, sealed: SealedPayload) -> Fingerprint:
        """Send the payload, once; returns the fingerprint of what arrived, read back from there.

        Raises SeedMismatch when it cannot be stored, and PayloadChanged when it is no longer what was sealed.
        """
        limits = sealed.limits
        caps = limits.files, limits.bytes, limits.depth, limits.name_bytes, limits.path_bytes
        with self._conversation("put", *map(frames.decimal, caps)) as talk:
            for chunk in sealed.stream():
                for start in range(0, len(chunk), frames.MAX_DATA):
                    self._channel.send(frames.raw(frames.DATA, chunk[start:start + frames.MAX_DATA]))
            self._channel.send(frames.encode(frames.DONE))
            return _fingerprint(talk.only_result())

    def clone(self, volume: int) -> None:
        """Copy the payload into an empty volume. Raises SeedMismatch when that fails, for one for lack of space."""
        with self._conversation("clone", frames.decimal(volume)) as talk:
            talk.only_result()

    def fingerprint(self, volume: int) -> Fingerprint:
        """Read a volume as a whole. Raises SeedMismatch when it cannot be read."""
        with self._conversation("fingerprint", frames.decimal(volume)) as talk:
            return _fingerprint(talk.only_result())

    def changes(self, volume: int) -> ChangeList:
        """Compare a volume with the payload; what the workload left there may be hostile, and only costs a note."""
        changes: list[Change] = []
        room = frames.MAX_CHANGE_TEXT
        with self._conversation("changes", frames.decimal(volume)) as talk:
            for frame in talk:
                kind, path, detail = frame.fields
                room -= len(frame.body)
                _require(len(changes) < frames.MAX_CHANGES and room > -frames.MAX_BODY, "too many changes")
                changes.append(Change(_KINDS[_text(kind)], _path(path), _text(detail)))
            note, *counted = talk.result
            after = _fingerprint(tuple(counted)) if counted else None
            return ChangeList(after, tuple(changes), _text(note))

    def collect(self, volume: int, patterns: tuple[str, ...], max_files: int, max_bytes: int) -> Collection:
        """Take regular files by glob pattern (``*``, ``?``, ``**``), up to a number and a total size."""
        artifacts: list[Artifact] = []
        room = max_bytes
        wanted = [pattern.encode("utf-8", "surrogateescape") for pattern in patterns[:frames.MAX_PATTERNS]]
        arguments = map(frames.decimal, (volume, max_files, max_bytes))
        with self._conversation("get", *arguments, *wanted) as talk:
            for frame in talk:
                path, size = frame.fields
                room -= number(size)
                _require(len(artifacts) < max_files and room >= 0, "more than was asked for")
                artifacts.append(Artifact(_path(path), talk.data(number(size))))
            note, = map(_text, talk.result)
        left_out = len(patterns) - len(wanted)
        notes = [note] + ([f"{left_out} patterns too many"] if left_out else [])
        return Collection(tuple(artifacts), "; ".join(filter(None, notes)))

    def usage(self, volume: int) -> Usage:
        """How full a volume is."""
        with self._conversation("usage", frames.decimal(volume)) as talk:
            total, free, inodes, free_inodes = map(number, talk.only_result())
            return Usage(total, free, inodes, free_inodes)

    def wipe(self, volume: int) -> None:
        """Remove everything from a volume."""
        with self._conversation("wipe", frames.decimal(volume)) as talk:
            talk.only_result()

    @contextmanager
    def _conversation(self, operation: str, *arguments: bytes) -> Iterator[_Conversation]:
        """Ask, and let the caller take the answer. Anything out of place becomes StewardLost."""
        with self._lock:
            if self._broken:
                raise StewardLost(f"{operation}: the steward was lost before")
            self._broken = True  # until the answer has come to its end
            try:
                self._channel.send(frames.encode(frames.REQUEST, operation.encode(), *arguments))
                talk = _Conversation(self._channel)
                yield talk
            except _FailedError as error:
                self._broken = False
                raise error.told from None
            except (FrameError, ValueError, KeyError) as error:
                raise StewardLost(f"the steward broke its protocol in {operation}: {error}") from error
            self._broken = False


class _FailedError(Exception):
    """The steward says that it could not do it. ``told`` is what the caller is to see."""

    def __init__(self, frame: Frame) -> None:
        code, message = frame.fields
        text = f"the steward could not {printable(message)}"
        super().__init__(text)
        self.told = SeedMismatch(text) if code == SeedMismatch.code.encode() else StewardLost(text)


class _Conversation:
    """The answer to one request: iterate over its items, then read ``result``."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._result: tuple[bytes, ...] | None = None

    def __iter__(self) -> Iterator[Frame]:
        while (frame := self._next()).tag == frames.ITEM:
            yield frame
        _require(frame.tag == frames.DONE, "data out of turn")
        self._result = frame.fields

    @property
    def result(self) -> tuple[bytes, ...]:
        """Fields of the last frame. Raises FrameError while there is none."""
        if self._result is None:
            raise FrameError("the answer has no end")
        return self._result

    def only_result(self) -> tuple[bytes, ...]:
        """The result of an answer without items."""
        for _ in self:
            raise FrameError("an item out of turn")
        return self.result

    def data(self, size: int) -> bytes:
        """Exactly ``size`` bytes of DATA frames."""
        parts: list[bytes] = []
        while size > 0:
            frame = self._next()
            _require(frame.tag == frames.DATA and 0 < len(frame.body) <= size, "not the data it announced")
            parts.append(frame.body)
            size -= len(frame.body)
        return b"".join(parts)

    def _next(self) -> Frame:
        frame = frames.read_frame(self._channel.receive)
        if frame.tag == frames.FAILED:
            raise _FailedError(frame)
        return frame


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise FrameError(otherwise)


def _text(field: bytes) -> str:
    _require(len(field) <= frames.MAX_TEXT, "a text is too long")
    return printable(field)


def _path(field: bytes) -> bytes:
    """A path below a root and nothing else: callers may join it to a directory of theirs."""
    parts = field.split(b"/")
    _require(len(field) <= _MAX_PATH and b"\0" not in field and not {b"", b".", b".."} & set(parts),
             "a path is malformed")
    return field


def _limits(fields: list[bytes]) -> HeldLimits:
    _require(len(fields) == len(HeldLimits._fields), "its limits are malformed")
    return HeldLimits(*[number(limit) if limit else None for limit in fields])


def _confinement(fields: list[bytes]) -> Confinement:
    kernel, user, capabilities, no_new_privileges, read_only_root, interfaces = fields
    return Confinement(_text(kernel), _text(user), number(capabilities), number(no_new_privileges) == 1,
                       number(read_only_root) == 1, tuple(filter(None, _text(interfaces).split(","))))


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= _HEX


def _fingerprint(fields: tuple[bytes, ...]) -> Fingerprint:
    exact, content, entries, files, size = fields
    _require(_is_digest(_text(exact)) and _is_digest(_text(content)), "a digest is malformed")
    return Fingerprint(_text(exact), _text(content), number(entries), number(files), number(size))
