"""Two tenants with one record each. What is wrong with it is an option: ``--leak`` answers whoever asks, ``--silent``
refuses a write and takes it all the same, ``--mixed`` puts the other's record into an answer, ``--open`` needs nobody.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
TOKENS = {os.environ["TOKEN_NORTH"]: "north", os.environ["TOKEN_SOUTH"]: "south"}
RECORDS = {"north": "a bear", "south": "a penguin"}


class Records(BaseHTTPRequestHandler):
    """``/tenants/ID/record``."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def asks(self):
        return TOKENS.get(self.headers.get("Authorization", "").removeprefix("Bearer "))

    def do_GET(self):
        owner = self.path.split("/")[2]
        if self.asks() != owner and not (WRONG == "--leak" and self.asks()) and WRONG != "--open":
            return self.answer(404, {})
        shown = list(RECORDS.values()) if WRONG == "--mixed" else [RECORDS[owner]]
        return self.answer(200, {"records": shown})

    def do_PUT(self):
        owner = self.path.split("/")[2]
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
        allowed = self.asks() == owner
        if allowed or WRONG == "--silent":
            RECORDS[owner] = text
        return self.answer(204 if allowed else 403, {})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8000), Records).serve_forever()
