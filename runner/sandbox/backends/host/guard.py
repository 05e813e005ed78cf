"""The controller's hold on one guard process (``supervisor.py``): start it, release the command, end all."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from typing import Self

from runner.errors import SetupError
from runner.sandbox.backends.host.reports import Reports
from runner.sandbox.deadline import Deadline

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_PIPE_BYTES = 1 << 20
_START_SECONDS = 30.0
END_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Launch:
    """What the guard is told. ``limits`` by resource name, as in ``RLIMIT_*``."""

    argv: tuple[str, ...]
    cwd: bytes
    env: Mapping[str, str]
    limits: Mapping[str, int]

    def line(self) -> bytes:
        """The release, as the guard reads it."""
        return json.dumps({
            "controller": os.getpid(), "argv": [_latin(word) for word in self.argv],
            "cwd": self.cwd.decode("latin-1"), "limits": dict(self.limits),
            "env": [(_latin(name), _latin(value)) for name, value in self.env.items()],
        }).encode() + b"\n"


class Guard:
    """One guard with its pipes, waiting for a release. Leaving the context ends everything it started.

    ``stdout`` and ``stderr`` are the workload's, for reading, never blocking; ``reports`` the guard's own.
    Raises SetupError when the guard cannot be started, or when something would not end.
    """

    def __init__(self) -> None:
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            leash, self._leash = os.pipe()
            theirs.callback(os.close, leash)
            ours.callback(self._let_go)
            self.stdout, stdout = _pipe(reader=ours, writer=theirs)
            self.stderr, stderr = _pipe(reader=ours, writer=theirs)
            reports, channel = _pipe(reader=ours, writer=theirs)
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(_SUPERVISOR), str(channel)], stdin=leash, stdout=stdout,
                    stderr=stderr, pass_fds=(channel,), start_new_session=True, cwd="/",
                    env=_own_environment())
            except OSError as error:
                raise SetupError(f"the guard of a host run could not be started: {error.strerror}") from error
            self._ours = ours.pop_all()
        self.reports = Reports(reports)
        for descriptor in (self.stdout, self.stderr):
            os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError):  # more than this user may have: the default size does, too
                fcntl(descriptor, F_SETPIPE_SZ, _PIPE_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise not_ended() from None
        finally:
            self._ours.close()

    def release(self, launch: Launch) -> None:
        """Let the guard start the command, once it is up."""
        deadline = Deadline.after(_START_SECONDS)
        while not self.reports.has("ready"):
            if not select.select([self.reports], [], [], deadline.remaining())[0] or self.reports.closed:
                raise SetupError("the guard of a host run did not come up")
            self.reports.read()
        line = memoryview(launch.line())
        try:
            while line:
                line = line[os.write(self._leash, line):]
        except BrokenPipeError as error:
            raise SetupError("the guard of a host run is gone") from error

    def end(self) -> None:
        """Tell the guard to end everything and itself; returns at once, and may be called again."""
        self._let_go()
        self._process.send_signal(signal.SIGCONT)  # the workload may have stopped it

    def _let_go(self) -> None:
        if self._leash >= 0:
            os.close(self._leash)
            self._leash = -1


def not_ended() -> SetupError:
    """The one thing that must not happen quietly."""
    return SetupError("processes of a host run could not be ended", hint="find them with ps, and end them")


def _pipe(*, reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    reader.callback(os.close, reading)
    writer.callback(os.close, writing)
    return reading, writing


def _own_environment() -> dict[str, str]:
    """For the guard's interpreter: some Pythons find their own library by this."""
    return {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}


def _latin(text: str) -> str:
    return os.fsencode(text).decode("latin-1")
