"""A program under a real terminal: what it draws, and what is left to see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Self

PATIENCE_SECONDS = 60


@dataclass
class Terminal:
    """A child whose stderr is a terminal; its stdin and stdout are pipes."""

    argv: Sequence[str]
    columns: int = 100
    env: dict[str, str] = field(default_factory=dict)
    drawn: str = ""

    def __enter__(self) -> Self:
        self._master, slave = pty.openpty()
        self.resize(self.columns)
        environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
        self.child = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=slave,
                                      env=environment | {"TERM": "xterm-256color"} | self.env)
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        self.child.kill()
        self.child.communicate()
        os.close(self._master)

    def resize(self, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def tell(self, line: str) -> None:
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def until(self, seen: Callable[[str], bool]) -> str:
        """Read what is drawn until it shows something; fails when that does not come."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not seen(self.drawn):
            assert time.monotonic() < deadline, self.drawn
            if not self._read(deadline):
                assert seen(self.drawn), self.drawn
                break
        return self.drawn

    def end(self) -> tuple[int, str]:
        """Let it end; its exit code and its stdout."""
        out, _ = self.child.communicate()
        while self._read(time.monotonic()):
            pass
        return self.child.returncode, out.decode()

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(deadline - time.monotonic(), 0))
        try:
            data = os.read(self._master, 65536) if ready else b""
        except OSError:  # the other side is closed
            data = b""
        self.drawn += data.decode()
        return bool(data)


def frames(drawn: str) -> list[str]:
    """Each state of a line that is drawn over, without colour."""
    return [re.sub(r"\x1b\[\d*m", "", frame) for frame in drawn.split("\r\x1b[K")]


def screen(drawn: str) -> list[str]:
    """What is left to see at the end: only what our own output uses is understood."""
    plain = re.sub(r"\x1b\[\d*m", "", drawn).replace("\r\n", "\n")
    lines = []
    for line in plain.split("\n"):
        *_, last = line.split("\r\x1b[K")
        assert not re.search(r"[\x00-\x1f]", last), drawn
        lines.append(last)
    return lines


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]
