"""A child process that runs regular expressions inside one time budget.

A pattern from a report may run for ever or eat all memory, even while it is compiled, and Python cannot stop
it. So it runs in a child with limits on memory and CPU, which is killed when the budget is spent.
"""

from __future__ import annotations

import os
import selectors
import struct
import subprocess
import sys
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import IO

from runner.errors import PatternError, SetupError, printable

DEFAULT_BUDGET = 10.0
"""Seconds that all searches of one replay may take together."""

_MEMORY = 1 << 30
_START_SECONDS = 30.0
_CHUNK = 1 << 20
_HEADER = 9
_PROGRAM = Path(__file__).with_name("matching_child.py")


class _LateError(Exception):
    """The deadline passed."""


class _DiedError(Exception):
    """The child ended without an answer."""


class MatchingProcess:
    """One child, started when first needed and reused; one request at a time, from any thread."""

    def __init__(self, budget_seconds: float = DEFAULT_BUDGET, memory_bytes: int = _MEMORY) -> None:
        self._budget = self._left = budget_seconds
        self._memory = memory_bytes
        self._lock = Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def spans(self, pattern: str, texts: Sequence[str]) -> list[tuple[int, int] | None]:
        """First match of ``pattern`` in each text, as start and end in characters.

        With no texts the pattern is only compiled. Raises PatternError when it is invalid, or does not
        finish within what is left of the budget or within the memory; SetupError when no child starts.
        """
        request = _request([pattern, *texts])
        with self._lock:
            status, payload = self._ask(request)
        if status == b"E":
            raise PatternError("the match pattern is not a valid regular expression: "
                               + printable(payload.decode("utf-8", "surrogatepass")),
                               hint="it is read by Python's re module")
        return [None if start < 0 else (start, end) for start, end in struct.iter_unpack(">qq", payload)]

    def close(self) -> None:
        """End the child. Safe to call more than once."""
        with self._lock:
            self._end()

    def _ask(self, request: bytes) -> tuple[bytes, bytes]:
        if self._left <= 0:
            raise self._runaway()
        child = self._child or self._start()
        began = monotonic()
        try:
            status, payload = _exchange(child, request, began + self._left)
        except _LateError as late:
            self._left = 0.0
            self._end()
            raise self._runaway() from late
        except _DiedError as died:
            self._end()
            raise PatternError("the match pattern ended its process: too much memory or time") from died
        except BaseException:
            self._end()
            raise
        self._left -= monotonic() - began
        if status == b"M":
            self._end()
            raise PatternError(f"the match pattern needs more than {self._memory} bytes of memory")
        return status, payload

    def _runaway(self) -> PatternError:
        return PatternError(f"the match pattern did not finish within {self._budget:g} seconds",
                            hint="nested or adjacent repeats such as (a+)+ can take time without end")

    def _start(self) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-I", "-S", "-W", "ignore", str(_PROGRAM), str(ceil(self._budget) + 5),
                str(self._memory)]
        env = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        try:
            self._child = child = subprocess.Popen(
                argv, bufsize=0, env=env, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, start_new_session=True)
            for pipe in (child.stdin, child.stdout):
                os.set_blocking(_fd(pipe), False)
            _receive(child, 1, b"", monotonic() + _START_SECONDS)
        except (OSError, _LateError, _DiedError) as error:
            self._end()
            raise SetupError("the process that runs match patterns could not be started") from error
        return child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.wait()


def _request(items: Sequence[str]) -> bytes:
    encoded = [item.encode("utf-8", "surrogatepass") for item in items]
    parts = [struct.pack(">I", len(encoded))]
    for item in encoded:
        parts += [struct.pack(">Q", len(item)), item]
    return b"".join(parts)


def _exchange(child: subprocess.Popen[bytes], request: bytes, deadline: float) -> tuple[bytes, bytes]:
    head = _receive(child, _HEADER, request, deadline)
    (length,) = struct.unpack_from(">Q", head, 1)
    return head[:1], _receive(child, length, b"", deadline)


def _receive(child: subprocess.Popen[bytes], count: int, request: bytes, deadline: float) -> bytes:
    """Send all of ``request`` and read exactly ``count`` bytes. Raises _LateError, _DiedError."""
    pending, answer = memoryview(request), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(_fd(child.stdout), selectors.EVENT_READ)
        if pending:
            selector.register(_fd(child.stdin), selectors.EVENT_WRITE)
        while len(answer) < count:
            left = deadline - monotonic()
            if left <= 0:
                raise _LateError
            for key, _ in selector.select(left):
                if key.fd == _fd(child.stdout):
                    answer += _read(key.fd, count - len(answer))
                    continue
                pending = pending[_write(key.fd, pending[:_CHUNK]):]
                if not pending:
                    selector.unregister(key.fd)
    return bytes(answer)


def _read(fd: int, count: int) -> bytes:
    data = os.read(fd, min(count, _CHUNK))
    if not data:
        raise _DiedError
    return data


def _write(fd: int, data: memoryview) -> int:
    try:
        return os.write(fd, data)
    except BrokenPipeError as error:
        raise _DiedError from error


def _fd(pipe: IO[bytes] | None) -> int:
    if pipe is None:
        raise _DiedError
    return pipe.fileno()
