"""What the little applications share: one page, JSON answers, and a command line."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers in one piece, and keeps quiet."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""

    def answer(self, status: int, body: Any, kind: str = "application/json", **headers: str) -> None:
        """``body``: text as it is, anything else as JSON."""
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", f"{kind}; charset=utf-8")
        self.send_header("content-length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    def body(self) -> str:
        """What the client sent, up to 64 KiB."""
        return self.rfile.read(min(int(self.headers.get("content-length") or 0), 64 << 10)).decode(errors="replace")


def serve(handler: Callable[..., BaseHTTPRequestHandler]) -> None:
    """Serve on 127.0.0.1 at ``--port`` until killed; says ``listening`` first."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), handler)
    print("listening", server.server_address[1], flush=True)
    server.serve_forever()
