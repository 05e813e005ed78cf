"""Orders, each with the key of whoever sent it. With ``--careless`` it looks first and books later, when all three
copies have looked; with ``--forgetful`` it answers a copy with another order.
"""

import itertools
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
COPIES = 3
LOCK = threading.Lock()
NUMBERS = itertools.count(1)
ORDERS = {}
KNOWN = {}
PAYMENTS = {}


class Orders(BaseHTTPRequestHandler):
    """``POST /orders`` and ``GET /orders/of/KEY``."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        key = unquote(self.path.rsplit("/", 1)[1])
        self.answer(200, {"orders": [number for number, of in ORDERS.items() if of == key]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        if WRONG == "--careless":
            known = KNOWN.get(key)
            PAYMENTS.setdefault(key, threading.Barrier(COPIES)).wait()
            return self.book(key, known)
        with LOCK:
            return self.book(key, KNOWN.get(key))

    def book(self, key, known):
        if known is None:
            known = KNOWN[key] = next(NUMBERS)
            ORDERS[known] = key
        self.answer(201, {"order": known if WRONG != "--forgetful" else time.monotonic_ns()})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8000), Orders).serve_forever()
