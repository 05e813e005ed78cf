"""A shop with one coupon that ten customers may use. With ``--careless`` it checks first and counts later."""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CARELESS = "--careless" in sys.argv
LIMIT = 10
LOCK = threading.Lock()
ORDERS = []


class Shop(BaseHTTPRequestHandler):
    """Two addresses: ``/redeem`` and ``/coupon``."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, {"used": len(ORDERS), "limit": LIMIT})

    def do_POST(self):
        customer = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if CARELESS:
            free = len(ORDERS) < LIMIT
            time.sleep(0.3)  # the payment
            redeemed = free and not ORDERS.append(customer)
        else:
            with LOCK:
                redeemed = len(ORDERS) < LIMIT and not ORDERS.append(customer)
        self.answer(200 if redeemed else 409, {"used": len(ORDERS)})

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", 8000), Shop).serve_forever()
