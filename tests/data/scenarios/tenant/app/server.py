"""Notes of several tenants in one workspace. Tokens are JWTs (HS256) with the tenant in them.

right: everybody sees the notes of their own tenant.  leak: lists are cached for 300 ms by workspace alone.
slip: who is asking passes through one place that all requests share.  unsigned: the signature is not looked at.
no-delete: right, but the workspace cannot be deleted.  leak-stays: leak, and the workspace cannot be deleted either.
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

WORKSPACES, CACHE, ASKING = {}, {}, {}
LOCK = threading.Lock()


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Notes(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    mode = "right"

    def log_message(self, *_):
        pass

    def answer(self, status, document=None):
        body = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def bearer(self):
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def is_admin(self):
        return hmac.compare_digest(self.bearer(), os.environ["ADMIN_TOKEN"])

    def claims(self):
        """Of a token that is ours; empty for any other."""
        try:
            head, body, signature = self.bearer().split(".")
            signed = hmac.digest(os.environ["JWT_SECRET"].encode(), f"{head}.{body}".encode(), hashlib.sha256)
            if self.mode != "unsigned" and not hmac.compare_digest(signed, decoded(signature)):
                return {}
            found = json.loads(decoded(body))
        except ValueError:
            return {}
        return found if found.get("exp", 0) > time.time() else {}

    def do_GET(self):
        workspace = WORKSPACES.get(self.path.split("/")[2]) if self.path.count("/") == 3 else None
        if self.path == "/audit":
            return self.audit()
        if self.path == "/workspaces":
            return self.answer(*((200, list(WORKSPACES)) if self.is_admin() else (403, [])))
        tenant = self.claims().get("tenant")
        if workspace is None or tenant is None:
            return self.answer(404 if tenant else 401, {"error": "no"})
        kept = CACHE.get(self.path)
        if self.mode.startswith("leak") and kept is not None and kept[0] > time.monotonic():
            return self.answer(200, {"notes": kept[1]})
        notes = [note for note in workspace if note["tenant"] == tenant]
        CACHE[self.path] = (time.monotonic() + 0.3, notes)
        return self.answer(200, {"notes": notes})

    def audit(self):
        """Of the workspace that the header names, for auditors who also have the key."""
        workspace = WORKSPACES.get(self.headers.get("X-LiteTraffic-Fixture"))
        known = self.claims().get("role") == "auditor" and self.headers.get("X-Audit-Key") == os.environ["AUDIT_KEY"]
        if workspace is None or not known:
            return self.answer(403, {"error": "no"})
        tenants = {note["tenant"] for note in workspace}
        return self.answer(200, {"notes": len(workspace), "tenants": sorted(tenants),
                                 "astray": sum(note["author"] != note["tenant"] for note in workspace)})

    def do_POST(self):
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if self.path == "/workspaces" and self.is_admin():
            with LOCK:
                name = f"ws-{len(WORKSPACES) + 1}"
                WORKSPACES[name] = []
            return self.answer(201, {"workspace": {"id": name, "title": document["title"]}})
        claims = self.claims()
        if not claims.get("tenant"):
            return self.answer(401, {"error": "no"})
        ASKING["tenant"] = claims["tenant"]
        time.sleep(0.15)  # the spelling is checked
        tenant = ASKING["tenant"] if self.mode == "slip" else claims["tenant"]
        note = {"tenant": tenant, "author": claims["tenant"], "text": document["text"]}
        WORKSPACES[self.path.split("/")[2]].append(note)
        return self.answer(201, {"note": note})

    def do_DELETE(self):
        if not self.is_admin() or self.mode in ("no-delete", "leak-stays"):
            return self.answer(500 if self.is_admin() else 401, {"error": "no"})
        WORKSPACES.pop(self.path.rpartition("/")[2], None)
        return self.answer(204)


class Server(ThreadingHTTPServer):
    request_queue_size = 64


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8104)
    parser.add_argument("--mode", default="right",
                        choices=["right", "leak", "slip", "unsigned", "no-delete", "leak-stays"])
    options = parser.parse_args()
    Notes.mode = options.mode
    Server(("127.0.0.1", options.port), Notes).serve_forever()
