"""A little shop with bugs, for `runner chaos`: python3 app.py --port 8000. Standard library only.

1. "Pay" reads the last line of a cart that may be empty, and throws.
2. "Best sellers" divides by the number of orders, of which there are none yet: the server answers 500.
3. A coupon (on /coupon) that two visitors redeem at the same moment is redeemed twice.
"""

import argparse
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHOP = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title></head><body>
<h1>Shop</h1>
<p>Lamp, 19 euros <button id="add">Add a lamp</button></p>
<button id="pay">Pay</button> <button id="best">Best sellers</button> <p id="note" role="status"></p>
<script>
const cart = {lines: []};
const note = text => { document.getElementById('note').textContent = text; };
const on = (id, act) => document.getElementById(id).addEventListener('click', act);
on('add', () => { cart.lines.push({price: 19}); note(cart.lines.length + ' in the cart'); });
on('pay', () => {
  const last = cart.lines.at(-1);
  note('paid, the last line was ' + last.price + ' euros');
  cart.lines = [];
});
on('best', async () => {
  const answer = await fetch('/api/best');
  note(answer.ok ? 'on average ' + (await answer.json()).average : 'no best sellers today');
});
</script></body></html>"""

COUPON = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Coupon</title></head><body>
<h1>Coupon</h1><button id="redeem">Redeem</button> <p class="status"></p>
<script>
document.getElementById('redeem').addEventListener('click', async () => {
  const answer = await fetch('/api/redeem', {method: 'POST'});
  document.querySelector('.status').textContent = answer.ok ? 'redeemed' : 'was redeemed already';
});
</script></body></html>"""


class Shop(BaseHTTPRequestHandler):
    """One visitor's request."""

    protocol_version = "HTTP/1.1"
    orders: tuple[int, ...] = ()
    coupon_used = False

    def do_GET(self) -> None:
        """Pages, and the best sellers."""
        if self.path in ("/", "/coupon"):
            self.answer(200, SHOP if self.path == "/" else COUPON, "text/html")
        elif self.path == "/api/best":
            try:
                average = sum(self.orders) / len(self.orders)
            except ZeroDivisionError:
                self.answer(500, '{"error": "division by zero"}')
            else:
                self.answer(200, json.dumps({"average": average}))
        else:
            self.answer(404, '{"error": "not found"}')

    def do_POST(self) -> None:
        """Redeem the coupon, once; the till is slow."""
        if self.path != "/api/redeem":
            self.answer(404, '{"error": "not found"}')
        elif Shop.coupon_used:
            self.answer(409, '{"error": "was redeemed already"}')
        else:
            time.sleep(0.3)
            Shop.coupon_used = True
            self.answer(200, '{"redeemed": true}')

    def answer(self, status: int, body: str, kind: str = "application/json") -> None:
        """All of an answer."""
        raw = body.encode()
        self.send_response(status)
        self.send_header("content-type", f"{kind}; charset=utf-8")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def main() -> None:
    """Serve on loopback until stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Shop).serve_forever()


main()
