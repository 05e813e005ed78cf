"""Rooms with four seats, which an administrator makes and removes. With ``--careless`` it looks first and books later,
and stumbles over the room that is too full when it is to be removed.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CARELESS = "--careless" in sys.argv
SEATS = 4
LOCK = threading.Lock()
ROOMS = {}


class Rooms(BaseHTTPRequestHandler):
    """``/rooms``, ``/rooms/ID/seats`` and ``/audit``."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_admin(self):
        return self.headers.get("Authorization") == f"Bearer {os.environ['ADMIN_TOKEN']}"

    def do_GET(self):
        guests = ROOMS.get(self.headers.get("X-LiteTraffic-Fixture"))
        if guests is None or not self.is_admin():
            return self.answer(403, {})
        return self.answer(200, {"guests": guests})

    def do_POST(self):
        guest = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path == "/rooms" and self.is_admin():
            ROOMS["room-1"] = []
            return self.answer(201, {"room": {"id": "room-1"}})
        guests = ROOMS[self.path.split("/")[2]]
        if CARELESS:
            free = len(guests) < SEATS
            time.sleep(0.3)  # the confirmation by mail
            return self.book(guests, guest, free=free)
        with LOCK:
            return self.book(guests, guest, free=len(guests) < SEATS)

    def book(self, guests, guest, *, free):
        if free:
            guests.append(guest)
        return self.answer(201 if free else 409, {})

    def do_DELETE(self):
        full = len(ROOMS.pop(self.path.split("/")[2])) > SEATS
        return self.answer(500 if full else 200, {})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8000), Rooms).serve_forever()
