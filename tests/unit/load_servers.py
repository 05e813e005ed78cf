"""Applications that answer as a test says, in a thread each."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answering = Callable[[socket.socket, str], object]


@dataclass
class Application:
    """``requests`` are the heads that it got, whole and in order."""

    port: int
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def lines(self) -> list[str]:
        """The first line of each request, without the version."""
        return [request.split("\r\n", 1)[0].rsplit(" ", 1)[0] for request in self.requests]


def plain(status: int, body: str | bytes = b"", *more: str) -> bytes:
    """A whole answer."""
    data = body.encode() if isinstance(body, str) else body
    return "\r\n".join([f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", *more, "", ""]).encode() + data


def _length(head: bytes) -> int:
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return int(found[1]) if found else 0


@contextmanager
def application(answer: bytes | Answering) -> Iterator[Application]:
    """It runs until the block ends; connections that are open then are cut."""
    listening = socket.create_server(("127.0.0.1", 0))
    made = Application(listening.getsockname()[1])
    lines: list[socket.socket] = []

    def one(line: socket.socket) -> None:
        with line, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (block := line.recv(1 << 16)):
                head += block
            # The body, too: closing a connection with something unread resets it, and the answer may be lost.
            head, _, body = head.partition(b"\r\n\r\n")
            missing = _length(head) - len(body)
            while missing > 0 and (block := line.recv(missing)):
                missing -= len(block)
            made.requests.append(head.decode("latin-1") + "\r\n")
            if isinstance(answer, bytes):
                line.sendall(answer)
            else:
                answer(line, made.requests[-1])

    def serve() -> None:
        with suppress(OSError):
            while True:
                line, _ = listening.accept()
                lines.append(line)
                threading.Thread(target=one, args=(line,), daemon=True).start()

    serving = threading.Thread(target=serve, daemon=True)
    serving.start()
    try:
        yield made
    finally:
        for each in (listening, *lines):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        listening.close()
        serving.join(5)
