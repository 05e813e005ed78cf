"""Monthly reports of customers, made in the background.

right: a report is made of what was asked for, and done when it is whole.
mixed: the worker looks up what was asked for when it comes to work, in one place that all requests share.
partial: a report is done as soon as it is begun, and its rows follow.
forgotten: there is one place in the queue, and what does not fit is accepted and forgotten.
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPORTS, ASKED = {}, {}
LOCK = threading.Lock()
QUEUE = threading.BoundedSemaphore(1)


def rows_of(customer, month):
    """The same for everybody who asks."""
    return [(customer * 31 + month * 7 + row * 17) % 97 for row in range(customer % 5 + 4)]


class Bureau(BaseHTTPRequestHandler):
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
        report = REPORTS.get(self.path.rpartition("/")[2])
        if report is None:
            return self.answer(404, {"error": "not found"})
        return self.answer(200, report)

    def do_POST(self):
        wish = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with LOCK:
            number = f"report-{len(REPORTS) + 1}"
            REPORTS[number] = {"state": "queued", "rows": []}
        ASKED.update(wish)
        if self.mode != "forgotten" or QUEUE.acquire(blocking=False):
            threading.Thread(target=self.make, args=(number, wish), daemon=True).start()
        return self.answer(202, {"report": number})

    def make(self, number, wish):
        time.sleep(0.2)  # the queue
        wish = dict(ASKED) if self.mode == "mixed" else wish
        report = {"state": "queued", "customer": wish["customer"], "rows": []}
        if self.mode == "partial":
            report["state"] = "done"
        REPORTS[number] = report
        rows = rows_of(wish["customer"], wish["month"])
        if self.mode == "partial":
            time.sleep(0.4)  # the database
        report["rows"] = rows
        report["state"] = "done"
        if self.mode == "forgotten":
            QUEUE.release()


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8103)
    parser.add_argument("--mode", default="right", choices=["right", "mixed", "partial", "forgotten"])
    options = parser.parse_args()
    Bureau.mode = options.mode
    Server(("127.0.0.1", options.port), Bureau).serve_forever()
