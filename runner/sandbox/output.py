"""Bounded capture of a run's output: everything is counted and hashed, only head and tail are kept.

Memory stays flat whatever the workload writes, and no byte is looked at one by one. A stream has one
writer at a time; the two streams may be fed from two threads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from runner.evidence.observation import Stream

T = TypeVar("T")
Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class Output:
    """Both streams of a finished run.

    ``sha256`` is the digest of all of stdout, then all of stderr. It is empty when stderr was truncated:
    the streams arrive mixed, so stderr must still be held in full when stdout has ended.
    ``over_limit``: a stream had more bytes than its cap.
    """

    stdout: Stream
    stderr: Stream
    sha256: str
    over_limit: bool


class _Ring:
    """The last ``capacity`` bytes of what was written; grows to that size only when needed."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bytes = bytearray()
        self._oldest = 0

    def write(self, data: memoryview) -> None:
        if self._capacity == 0:
            return
        if len(data) >= self._capacity:
            self._bytes[:] = data[-self._capacity:]
            self._oldest = 0
            return
        room = self._capacity - len(self._bytes)
        self._bytes += data[:room]
        data = data[room:]
        while len(data):
            part = data[:self._capacity - self._oldest]
            self._bytes[self._oldest:self._oldest + len(part)] = part
            self._oldest = (self._oldest + len(part)) % self._capacity
            data = data[len(part):]

    def content(self) -> bytes:
        return bytes(self._bytes[self._oldest:] + self._bytes[:self._oldest])


class Capture:
    """One stream: exact count and SHA-256 of everything fed, at most ``keep`` bytes kept.

    The first half of ``keep`` is the head, the rest a tail. Up to ``keep`` bytes nothing is lost.
    """

    def __init__(self, keep: int) -> None:
        if keep < 0:
            raise ValueError("a capture cannot keep a negative number of bytes")
        self._keep = keep
        self._head_room = keep - keep // 2
        self._head = bytearray()
        self._tail = _Ring(keep // 2)
        self._hash = hashlib.sha256()
        self._total = 0

    @property
    def total(self) -> int:
        """Bytes fed so far."""
        return self._total

    @property
    def truncated(self) -> bool:
        """Whether some bytes are no longer held."""
        return self._total > self._keep

    def feed(self, data: Buffer) -> None:
        """Take the next bytes. The buffer may be reused as soon as this returns."""
        self._hash.update(data)
        rest = memoryview(data)
        self._total += len(rest)
        if self._head_room:
            head = rest[:self._head_room]
            self._head += head
            self._head_room -= len(head)
            rest = rest[len(head):]
        self._tail.write(rest)

    def begins(self, line: bytes) -> bool:
        """Whether the stream starts with these bytes."""
        return self._head.startswith(line)

    def stream(self) -> Stream:
        """What was seen so far, as evidence."""
        return Stream(bytes=self._total, sha256=self._hash.hexdigest(), truncated=self.truncated,
                      head=bytes(self._head), tail=self._tail.content())

    def digest_followed_by(self, data: bytes) -> str:
        """SHA-256 of everything fed and then ``data``, without feeding it."""
        following = self._hash.copy()
        following.update(data)
        return following.hexdigest()


class OutputPair:
    """Both streams of one run, under their caps.

    The last ``hold_back`` bytes of stderr are kept out of count, digest and evidence until the end: an init's
    trailer may be there. They do not count against the cap before :meth:`finish` has said whose they are.
    """

    def __init__(self, stdout_cap: int, stderr_cap: int, keep: int, hold_back: int = 0) -> None:
        self._caps = (stdout_cap, stderr_cap)
        self._stdout = Capture(keep)
        self._stderr = Capture(keep)
        self._hold_back = hold_back
        self._held = bytearray()

    def feed_stdout(self, data: Buffer) -> None:
        """Take the next bytes of stdout."""
        self._stdout.feed(data)

    def feed_stderr(self, data: Buffer) -> None:
        """Take the next bytes of stderr, passing on those that can no longer be the last ``hold_back``."""
        if not self._hold_back:
            self._stderr.feed(data)
            return
        view = memoryview(data)
        free = max(0, len(view) - self._hold_back)
        if free:
            self._stderr.feed(self._held)
            self._stderr.feed(view[:free])
            self._held.clear()
        self._held += view[free:]
        surplus = len(self._held) - self._hold_back
        if surplus > 0:
            self._stderr.feed(self._held[:surplus])
            del self._held[:surplus]

    def stdout_begins(self, line: bytes) -> bool:
        """Whether stdout starts with these bytes, of those that are kept."""
        return self._stdout.begins(line)

    @property
    def over_limit(self) -> bool:
        """Whether a stream has more bytes than its cap."""
        return self._stdout.total > self._caps[0] or self._stderr.total > self._caps[1]

    def finish(self, strip: Callable[[bytes], tuple[bytes, T]]) -> tuple[Output, T]:
        """End both streams. ``strip`` gets the bytes held back, and returns those that are the workload's
        together with whatever it found in the others. Call once, when nothing feeds any more.
        """
        remaining, found = strip(bytes(self._held))
        self._held.clear()
        self._stderr.feed(remaining)
        stdout, stderr = self._stdout.stream(), self._stderr.stream()
        digest = "" if stderr.truncated else self._stdout.digest_followed_by(stderr.kept)
        return Output(stdout, stderr, digest, self.over_limit), found


def nothing_held(tail: bytes) -> tuple[bytes, None]:
    """The ``strip`` of a backend without a trailer: all bytes are the workload's."""
    return tail, None
