"""A single-page shop: client routing, timers, parallel requests, random keys, animation frames, a CSS animation.

Bugs: leaving the orders before they have come dereferences null (page error); the fifth order fails (500, unhandled).
"""

from __future__ import annotations

from itertools import count
from threading import Lock

from serving import Handler, serve

ORDERS: list[str] = []
NUMBERS, LOCK = count(1), Lock()
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>@keyframes in { from { opacity: 0 } to { opacity: 1 } } main { animation: in 200ms }</style></head>
<body><nav><a href="/" data-go>Home</a> <a href="/orders" data-go>Orders</a> <a href="/about" data-go>About</a></nav>
<main id="app"></main><p id="clock"></p><script>
const app = document.getElementById("app");
localStorage.setItem("cart", localStorage.getItem("cart") || '{"items": [], "total": 0}');
let shown = 0;
const pages = {
  "/": () => {
    app.innerHTML = '<h1>Home</h1><input id="what" placeholder="what"><button id="order">Order</button>' +
      '<button id="soon">Later</button><ul id="log"></ul>';
    document.getElementById("order").onclick = order;
    document.getElementById("soon").onclick = () =>
      setTimeout(() => log("later " + Math.floor(Math.random() * 9)), 600);
  },
  "/orders": async () => {
    app.innerHTML = '<h1>Orders</h1><ul id="orders"></ul><button id="all">Reload all</button>';
    document.getElementById("all").onclick = () => pages["/orders"]();
    const answers = await Promise.all([1, 2, 3].map(part => fetch("/api/orders?part=" + part).then(r => r.json())));
    const list = document.getElementById("orders");
    answers.flat().forEach(row => { list.innerHTML += "<li><button>" + row.length + " drop</button></li>"; });
  },
  "/about": () => { app.innerHTML = '<h1>About</h1><p id="spin">0</p><button id="spinner">Spin</button>';
    document.getElementById("spinner").onclick = () => { let left = 12;
      const turn = () => { document.getElementById("spin").textContent = left;
        if (left-- > 0) requestAnimationFrame(turn); else app.innerHTML += "<button>spun</button>"; };
      requestAnimationFrame(turn); }; },
};
function log(text) { const item = document.createElement("li"); item.innerHTML = "<button>" + text + "</button>";
  document.getElementById("log").append(item); }
async function order() {
  const key = crypto.randomUUID();
  const answer = await fetch("/api/order", {method: "POST", body: JSON.stringify({key, at: Date.now()})});
  const row = await answer.json();
  log(row.order.number + " " + key[0]);
}
function show(path) { (pages[path] || pages["/"])(); }
document.addEventListener("click", event => {
  const link = event.target.closest("[data-go]");
  if (!link) return;
  event.preventDefault();
  history.pushState({}, "", link.getAttribute("href"));
  show(location.pathname);
});
addEventListener("popstate", () => show(location.pathname));
setInterval(() => { document.getElementById("clock").textContent = "tick " + (++shown);
  if (shown % 3) return;
  fetch("/api/beat").then(r => r.json()).then(r => { document.title = "Shop " + r.beat; }); }, 300);
show(location.pathname);
</script></body></html>"""


class Shop(Handler):
    """The page, and its API."""

    def do_GET(self) -> None:
        """The page for every route of the client's."""
        if self.path.startswith("/api/orders"):
            part = int(self.path[-1])
            with LOCK:
                self.answer(200, ORDERS[part - 1::3])
        elif self.path == "/api/beat":
            self.answer(200, {"beat": next(NUMBERS)})
        else:
            self.answer(200, PAGE, "text/html")

    def do_POST(self) -> None:
        """One more order; every fifth fails."""
        self.body()
        with LOCK:
            ORDERS.append("x" * len(ORDERS))
            failed = len(ORDERS) % 5 == 0
            self.answer(500 if failed else 200, {} if failed else {"order": {"number": len(ORDERS)}})


if __name__ == "__main__":
    serve(Shop)
