"""A small web app with known bugs, for judging what a replayed chaos incident should say.

    python3 app.py [--port 8801] [--fixed]

Loopback only, standard library only. --fixed serves the repaired version of every bug.

  /            the shop page: buttons, a form, a badge image, a session in localStorage
  /coupon      one button, one single-use coupon: the race target
  POST /api/pay        answers after 0.25 s; the page throws a TypeError when a second
                       click lands while the first payment is still pending   (bug 1)
  GET  /api/report     always HTTP 500                                        (bug 2)
  POST /api/redeem     checks the coupon, waits 0.4 s, then marks it used, with no lock:
                       two callers inside that window both get 200            (bug 3)
  POST /api/contact    HTTP 500 when the name is longer than 100 characters   (bug 4)
  POST /api/reset      makes the coupon unused again;  GET /api/state tells how often it
                       was redeemed since the last reset
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIXED = False
LOCK = threading.Lock()
STATE = {"redeemed": 0, "payments": 0}

SHOP = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Peer shop</title>
<link rel="icon" href="data:,"></head><body>
<h1>Peer shop</h1><div id="status-box" class="status">ready</div>
<button id="pay">Pay 10 EUR</button>
<button id="report">Load report</button>
<button id="locked" disabled>Admin export</button>
<form id="contact"><input id="name" name="name" placeholder="your name">
<input id="email" name="email" type="email" placeholder="e-mail">
<input type="hidden" id="role" name="role" value="guest">
<button id="send" type="submit">Send</button></form>
<script>
const FIXED = %FIXED%;
const box = document.getElementById('status-box');
localStorage.setItem('cart', JSON.stringify({items: [1, 2], total: 20}));
localStorage.setItem('auth_token', 'tok_local_demo_value');
let pending = null;
document.getElementById('pay').addEventListener('click', async () => {
  if (pending) {
    if (FIXED) return;
    pending.order.items.push(1);            // bug 1: order is not there yet
  }
  pending = {};
  const answer = await fetch('/api/pay?session_token=demo-secret-1234&item=7', {
    method: 'POST', headers: {'content-type': 'application/json',
    'authorization': 'Bearer demo-bearer-token-0123456789'},
    body: JSON.stringify({amount: 10, card_number: '4111111111111111', note: 'hi'})});
  const data = await answer.json();
  box.textContent = 'paid ' + data.payment;
  pending = null;
});
document.getElementById('report').addEventListener('click', async () => {
  const answer = await fetch('/api/report');
  box.textContent = 'report ' + answer.status;
});
document.getElementById('contact').addEventListener('submit', async (event) => {
  event.preventDefault();
  const answer = await fetch('/api/contact', {method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({name: document.getElementById('name').value,
                          email: document.getElementById('email').value,
                          password: 'demo-password'})});
  box.textContent = 'contact ' + answer.status;
});
</script></body></html>"""

COUPON = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Coupon</title>
<link rel="icon" href="data:,"></head><body>
<div id="status-box" class="status">ready</div><button id="redeem">Redeem SAVE10</button>
<script>
document.getElementById('redeem').addEventListener('click', async () => {
  const answer = await fetch('/api/redeem', {method: 'POST',
    headers: {'content-type': 'application/json'}, body: JSON.stringify({code: 'SAVE10'})});
  document.getElementById('status-box').textContent = (await answer.json()).status;
});
</script></body></html>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, code, body, kind="application/json", cookie=None):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("cache-control", "no-store")
        if cookie:
            self.send_header("set-cookie", cookie)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/":
            page = SHOP.replace("%FIXED%", "true" if FIXED else "false")
            return self.answer(200, page, "text/html; charset=utf-8", "sid=demo-cookie-value; Path=/")
        if path == "/coupon":
            return self.answer(200, COUPON, "text/html; charset=utf-8")
        if path == "/api/report":
            if FIXED:
                return self.answer(200, {"rows": []})
            return self.answer(500, {"error": "division by zero in report"})
        if path == "/api/state":
            return self.answer(200, dict(STATE))
        return self.answer(404, {"error": "not found"})

    def do_POST(self):  # noqa: PLR0911
        path = self.path.split("?")[0]
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            data = json.loads(raw or b"{}")
        except ValueError:
            data = {}
        if path == "/api/pay":
            time.sleep(0.25)
            STATE["payments"] += 1
            return self.answer(200, {"payment": STATE["payments"], "access_token": "demo-jwt"})
        if path == "/api/contact":
            if len(str(data.get("name", ""))) > 100 and not FIXED:
                return self.answer(500, {"error": "column too short"})
            return self.answer(200, {"ok": True})
        if path == "/api/redeem":
            if FIXED:
                with LOCK:
                    if STATE["redeemed"]:
                        return self.answer(409, {"status": "already used"})
                    STATE["redeemed"] += 1
                return self.answer(200, {"status": "redeemed"})
            if STATE["redeemed"]:
                return self.answer(409, {"status": "already used"})
            time.sleep(0.4)                                    # bug 3: check, then act
            STATE["redeemed"] += 1
            return self.answer(200, {"status": "redeemed"})
        if path == "/api/reset":
            STATE.update(redeemed=0, payments=0)
            return self.answer(200, dict(STATE))
        return self.answer(404, {"error": "not found"})


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--port", type=int, default=8801)
    options.add_argument("--fixed", action="store_true")
    args = options.parse_args()
    FIXED = args.fixed
    ThreadingHTTPServer(("127.0.0.1", args.port), Handler).serve_forever()
