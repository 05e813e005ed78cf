"""A tea shop: carts, a checkout that may be sent twice, and orders. Its ledger listens on a port of its own.

right: a checkout is paid once, however often it is sent.  double: looks for the order, pays for 100 ms, notes it.
shared: the lines of a cart pass through one list that all requests share.
busy: a payment needs one of two connections, and says HTTP 500 when both are taken.
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PRICES = {"tea": 450, "cup": 1200, "pot": 3900, "tray": 2250}
CARTS, ORDERS, DRAFT = {}, [], []
LOCK = threading.Lock()
CONNECTIONS = threading.BoundedSemaphore(2)


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Ledger(Answering):
    def do_GET(self):
        carts = [order["cart"] for order in ORDERS]
        self.answer(200, {"orders": len(carts), "twice": len(carts) - len(set(carts))})


class Shop(Answering):
    mode = "right"

    def do_GET(self):
        path, _, query = self.path.partition("?cart=")
        if path == "/healthz":
            return self.answer(200, {"ok": True})
        if path == "/catalogue":
            return self.answer(200, {"prices": PRICES})
        if path == "/orders":
            return self.answer(200, {"orders": [order for order in ORDERS if order["cart"] == query]})
        return self.answer(404, {"error": "not found"})

    def do_POST(self):
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        parts = self.path.split("/")
        if self.path == "/carts":
            return self.make_cart(document["lines"])
        if len(parts) == 4 and parts[1] == "carts" and parts[3] == "checkout" and parts[2] in CARTS:
            return self.check_out(CARTS[parts[2]])
        return self.answer(404, {"error": "not found"})

    def make_cart(self, lines):
        if self.mode == "shared":
            DRAFT[:] = lines
        time.sleep(0.15)  # the tax service
        if self.mode == "shared":
            lines = list(DRAFT)
        total = sum(PRICES[line["product"]] * line["quantity"] for line in lines)
        with LOCK:
            cart = {"id": f"cart-{len(CARTS) + 1}", "total": total, "lock": threading.Lock()}
            CARTS[cart["id"]] = cart
        return self.answer(201, {"cart": cart["id"], "total": total})

    def check_out(self, cart):
        if self.mode == "busy" and not CONNECTIONS.acquire(blocking=False):
            return self.answer(500, {"error": "no connection to the payment service"})
        try:
            if self.mode == "double":
                return self.pay(cart)
            with cart["lock"]:
                return self.pay(cart)
        finally:
            if self.mode == "busy":
                CONNECTIONS.release()

    def pay(self, cart):
        key = self.headers.get("Idempotency-Key")
        known = next((order for order in ORDERS if order["key"] == key), None)
        if known is not None:
            return self.answer(200, {"order": known["id"]})
        time.sleep(0.1)  # the payment service
        with LOCK:
            order = {"id": f"order-{len(ORDERS) + 1}", "cart": cart["id"], "key": key, "paid": cart["total"]}
            ORDERS.append(order)
        return self.answer(201, {"order": order["id"]})


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8101)
    parser.add_argument("--ledger-port", type=int, default=9101)
    parser.add_argument("--mode", default="right", choices=["right", "double", "shared", "busy"])
    options = parser.parse_args()
    Shop.mode = options.mode
    ledger = Server(("127.0.0.1", options.ledger_port), Ledger)
    threading.Thread(target=ledger.serve_forever, daemon=True).start()
    Server(("127.0.0.1", options.port), Shop).serve_forever()
