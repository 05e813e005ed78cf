"""A tiny application with a made-up secret in each place where a browser can meet one."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRETS = {
    "cookie": "cookie-value-10", "bearer": "bearer-value-11-abcdef", "query": "query-value-12", "json": "json-value-13",
    "answer": "answer-value-14", "multipart": "multi-value-15", "hidden": "hidden-value-16",
    "storage": "store-value-17", "redirect": "redir-value-18", "typed": "typed-Value-19", "socket": "socket-value-20",
    "card": "4111111111111111"}

PAGE = """<!doctype html><title>Sign in</title><meta name="csrf-token" content="hidden-value-16">
<link rel="icon" href="data:,"><form method="post" action="/login"><input id="user" name="user">
<input type="password" id="kennziffer" name="kennziffer"><input type="hidden" name="csrf_token" value="hidden-value-16">
<button id="go">Sign in</button></form><p id="hello">plain words stay</p><script>
localStorage.setItem('auth_token', 'store-value-17');
fetch('/api?session_token=query-value-12&item=7', {method: 'POST', headers: {'content-type': 'application/json',
  authorization: 'Bearer bearer-value-11-abcdef'},
  body: JSON.stringify({card_number: '4111111111111111', note: 'note stays', password: 'json-value-13'})})
.then((answer) => answer.json()).then((data) => {
  hello.textContent += ' ' + data.access_token;
  console.error('got ' + data.access_token);
  document.title = 'ready';
  setTimeout(() => { throw new Error('refused: query-value-12'); }, 0);
});
const form = new FormData(); form.append('password', 'multi-value-15'); form.append('note', 'kept');
fetch('/multi', {method: 'POST', body: form});
new WebSocket('ws://' + location.host + '/ws').onmessage = (event) => console.log('said ' + event.data);
</script>"""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    def answer(self, code: int, body: str, kind: str, *headers: tuple[str, str]) -> None:
        data = body.encode()
        self.send_response(code)
        for name, value in (("content-type", kind), ("content-length", str(len(data))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        if self.path == "/ws":
            self.websocket()
        elif self.path.startswith("/done"):
            self.answer(200, "<title>done</title><p>welcome</p>", "text/html")
        else:
            self.answer(200, PAGE, "text/html; charset=utf-8", ("set-cookie", "sid=cookie-value-10; Path=/"),
                        ("set-cookie", "theme=light"))

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/login":
            self.answer(303, "", "text/plain", ("location", "/done?access_token=redir-value-18"))
        else:
            self.answer(200, '{"access_token": "answer-value-14", "payment": 1}', "application/json")

    def websocket(self) -> None:
        """Greet with one text frame (RFC 6455), and hang up."""
        key = self.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("upgrade", "websocket"), ("connection", "Upgrade"), (
                "sec-websocket-accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())):
            self.send_header(name, value)
        self.end_headers()
        text = b'{"type":"hello","token":"socket-value-20"}'
        self.wfile.write(bytes((0x81, len(text))) + text)
        self.close_connection = True


@contextmanager
def serving() -> Iterator[str]:
    """The application's address, while it is open."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
