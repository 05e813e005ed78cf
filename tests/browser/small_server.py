"""A little application on the loopback that remembers every request. Its answers are what a test gives it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HTML = "text/html; charset=utf-8"
JSON = "application/json"


@dataclass(frozen=True)
class Reply:
    """One answer."""

    body: bytes
    kind: str = JSON
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class SmallServer:
    """Answers by path; ``asked`` has (method, path, headers) of everything that came."""

    replies: dict[str, Reply]
    url: str = ""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return sum(1 for _, asked, _ in self.asked if asked == path)


@contextmanager
def serving(replies: dict[str, Reply]) -> Iterator[SmallServer]:
    """Serve until the end of the block; paths without an answer are 404."""
    app = SmallServer({"/": Reply(b"<!doctype html><link rel=icon href=data:,><p>hello", HTML), **replies})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            app.asked.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}))
            reply = app.replies.get(self.path, Reply(b"{}", status=404))
            self.send_response(reply.status)
            for name, value in (("content-type", reply.kind), ("content-length", str(len(reply.body))), *reply.headers):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    app.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield app
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
