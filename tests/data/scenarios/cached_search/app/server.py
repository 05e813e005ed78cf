"""A catalogue with a search whose results are cached. All requests are signed with the key of the shop.

right: a change of a price empties what is cached of its word, and nothing older is cached afterwards.
stale: a change of a price leaves the cache as it is.
late-fill: a search that began before a change is cached after it.
pages: all pages of a word share one place in the cache.  open: signatures are not looked at.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = 2
PRODUCTS, CACHE, CHANGES = {}, {}, {}
LOCK = threading.Lock()


class Search(BaseHTTPRequestHandler):
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

    def signed(self, what):
        return hmac.digest(os.environ["SHOP_KEY"].encode(), what, hashlib.sha256)

    def is_signed(self, expected):
        return self.mode == "open" or hmac.compare_digest(self.headers.get("X-Signature") or "", expected)

    def do_GET(self):
        if not self.is_signed(self.signed(self.path.encode()).hex()):
            return self.answer(401, {"error": "no"})
        query = parse_qs(urlsplit(self.path).query)
        word, page = query["q"][0], int(query["page"][0])
        place = word if self.mode == "pages" else (word, page)
        with LOCK:
            kept, seen = CACHE.get(place), CHANGES.get(word, 0)
            found = [dict(product) for product in PRODUCTS.values() if product["word"] == word]
        if kept is not None:
            return self.answer(200, kept)
        time.sleep(0.15)  # the ranking
        result = {"word": word, "page": page, "items": found[(page - 1) * PAGE:page * PAGE]}
        with LOCK:
            if self.mode in ("stale", "late-fill") or CHANGES.get(word, 0) == seen:
                CACHE[place] = result
        return self.answer(200, result)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_signed(base64.b64encode(self.signed(body)).decode()):
            return self.answer(401, {"error": "no"})
        product = PRODUCTS.get(self.path.rpartition("/")[2])
        if product is None:
            return self.answer(404, {"error": "not found"})
        time.sleep(0.05)  # the database
        with LOCK:
            product["price"] = json.loads(body)["price"]
            CHANGES[product["word"]] = CHANGES.get(product["word"], 0) + 1
            if self.mode != "stale":
                for page in range(1, 4):
                    CACHE.pop((product["word"], page), None)
                CACHE.pop(product["word"], None)
        return self.answer(200, product)


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8106)
    parser.add_argument("--mode", default="right", choices=["right", "stale", "late-fill", "pages", "open"])
    parser.add_argument("--catalogue", default="catalogue.json")
    options = parser.parse_args()
    Search.mode = options.mode
    with open(options.catalogue, encoding="utf-8") as file:
        PRODUCTS.update({product["id"]: product for product in json.load(file)})
    Server(("127.0.0.1", options.port), Search).serve_forever()
