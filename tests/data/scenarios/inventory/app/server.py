"""One shelf of a warehouse with eight consoles, and a ledger of who bought them.

right: looks and takes under one lock.  race: looks, works for 250 ms, takes.
lost: looks, works, and writes down what it saw less one, so that purchases at one time count once.
hold: right, but a console that was refused to somebody stays on hold, and the last two are never sold.
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOCK = threading.Lock()
SHELF = {"stock": 8}
LEDGER = []


class Warehouse(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    mode = "right"

    def log_message(self, *_):
        pass

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/items/console":
            return self.answer(200, {"stock": SHELF["stock"]})
        if self.path == "/ledger":
            return self.answer(200, {"stock": SHELF["stock"], "sold": LEDGER, "a/b~c": {"00": ["first", "second"]}})
        return self.answer(404, {"error": "not found"})

    def do_POST(self):
        buyer = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path != "/items/console/buy":
            return self.answer(404, {"error": "not found"})
        if self.mode in ("race", "lost"):
            return self.careless(buyer)
        with LOCK:
            if SHELF["stock"] <= (2 if self.mode == "hold" else 0):
                return self.answer(409, {"left": SHELF["stock"]})
            return self.sell(buyer, SHELF["stock"] - 1)

    def careless(self, buyer):
        seen = SHELF["stock"]
        if seen <= 0:
            return self.answer(409, {"left": seen})
        time.sleep(0.25)  # the invoice
        with LOCK:
            return self.sell(buyer, (SHELF["stock"] if self.mode == "race" else seen) - 1)

    def sell(self, buyer, left):
        SHELF["stock"] = left
        LEDGER.append(buyer)
        return self.answer(201, {"left": left})


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8102)
    parser.add_argument("--mode", default="right", choices=["right", "race", "lost", "hold"])
    options = parser.parse_args()
    Warehouse.mode = options.mode
    Server(("127.0.0.1", options.port), Warehouse).serve_forever()
