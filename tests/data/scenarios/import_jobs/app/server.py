"""Imports of customer files in batches. The summary of a batch is a second late; that is so by design.

right: each job is imported once.  lost: a job's rows are added to what the total was 200 ms ago.
twice: a job that is still busy when somebody asks is begun once more.  late: the summary is a minute late.
stuck: a job that is accepted while two others are busy never ends.
no-open: batches cannot be opened.  no-close: right, but batches cannot be closed.
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BATCHES, JOBS = {}, {}
LOCK = threading.Lock()


class Office(BaseHTTPRequestHandler):
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
        if self.path.startswith("/summary"):
            return self.summary()
        job = JOBS.get(self.path.rpartition("/")[2])
        if job is None:
            return self.answer(404, {"error": "not found"})
        if self.mode == "twice" and job["state"] == "busy" and job["begun"] == 1:
            self.begin(job)
        return self.answer(200, {"state": job["state"], "rows": job["rows"]})

    def do_POST(self):
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if self.path == "/batches":
            if self.mode == "no-open":
                return self.answer(503, {"error": "the office is closed"})
            BATCHES["batch-1"] = {"totals": [(0.0, 0)], "customers": document["customers"]}
            return self.answer(201, {"batch": "batch-1"})
        batch = BATCHES.get(document["batch"])
        if batch is None or document["customer"] not in batch["customers"]:
            return self.answer(422, {"error": "who is that?"})
        with LOCK:
            name = f"job-{len(JOBS) + 1}"
            busy = sum(job["state"] == "busy" for job in JOBS.values())
            JOBS[name] = {"state": "busy", "rows": 0, "begun": 0, "lines": document["lines"], "batch": batch}
        if self.mode != "stuck" or busy < 2:
            self.begin(JOBS[name])
        return self.answer(202, {"job": name})

    def do_DELETE(self):
        if self.mode == "no-close":
            return self.answer(500, {"error": "the batch is in use"})
        return self.answer(200 if BATCHES.pop(self.path.rpartition("/")[2], None) else 404, {})

    def begin(self, job):
        job["begun"] += 1
        threading.Thread(target=self.work, args=(job,), daemon=True).start()

    def work(self, job):
        totals = job["batch"]["totals"]
        before = totals[-1][1]
        time.sleep(0.2)  # the database
        with LOCK:
            if self.mode != "lost":
                before = totals[-1][1]
            totals.append((time.monotonic(), before + len(job["lines"])))
            job["rows"] += len(job["lines"])
        if job["begun"] == 1 or job["rows"] == 2 * len(job["lines"]):
            job["state"] = "done"

    def summary(self):
        until = time.monotonic() - (60 if self.mode == "late" else 1)
        batch = BATCHES.get("batch-1", {"totals": [(0.0, 0)], "customers": []})
        known = [rows for at, rows in batch["totals"] if at < until]
        return self.answer(200, {
            "rows": known[-1], "imports": len(known) - 1, "customers": batch["customers"], "errors": [],
            "last": known[-1] or None, "share": 1.0})


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8105)
    parser.add_argument("--mode", default="right",
                        choices=["right", "lost", "twice", "late", "stuck", "no-open", "no-close"])
    options = parser.parse_args()
    Office.mode = options.mode
    Server(("127.0.0.1", options.port), Office).serve_forever()
