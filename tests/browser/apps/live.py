"""A board whose websocket answers clicks: each click is a message, and the answer adds what can be clicked next.

Bug: the third "deal" on a table answers without cards, and the page dereferences them (page error).
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from typing import Any

from serving import Handler, serve

MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Board</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head><body><h1>Board</h1>
<input id="say" placeholder="say"><button id="send">Send</button> <button id="deal">Deal</button>
<button id="clear">Clear</button><p id="state">connecting</p><div id="board"></div><script>
const board = document.getElementById("board");
const socket = new WebSocket("ws://" + location.host + "/live");
const say = message => socket.send(JSON.stringify(message));
socket.onopen = () => { document.getElementById("state").textContent = "open"; say({kind: "join"}); };
socket.addEventListener("message", event => {
  const answer = JSON.parse(event.data);
  if (answer.kind === "clear") { board.innerHTML = ""; return; }
  if (answer.kind === "dealt") answer.cards.forEach(card => add(card, {kind: "play", card}));
  else add(answer.text, {kind: "drop", text: answer.text});
});
socket.onclose = () => { document.getElementById("state").textContent = "closed"; };
function add(text, message) { const button = document.createElement("button"); button.textContent = text;
  button.onclick = () => { button.remove(); say(message); }; board.append(button); }
document.getElementById("send").onclick = () => say({kind: "say", text: document.getElementById("say").value});
document.getElementById("deal").onclick = () => say({kind: "deal"});
document.getElementById("clear").onclick = () => say({kind: "clear"});
</script></body></html>"""


class Board(Handler):
    """The page, and its websocket (RFC 6455: unfragmented text frames are all that this page sends)."""

    def do_GET(self) -> None:
        """Either."""
        key = self.headers.get("sec-websocket-key")
        if not key:
            self.answer(200, PAGE, "text/html")
            return
        accept = base64.b64encode(hashlib.sha1((key + MAGIC).encode()).digest()).decode()
        self.wfile.write(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Accept: {accept}\r\n\r\n").encode())
        self.close_connection = True
        self.talk()

    def talk(self) -> None:
        """Answer each message until the client leaves."""
        deals = 0
        self.tell({"kind": "text", "text": "welcome"})
        while (message := self.hear()) is not None:
            deals += message.get("kind") == "deal"
            if message.get("kind") == "deal":
                cards = {} if deals % 3 == 0 else {"cards": [f"card {deals}{suit}" for suit in "abc"]}
                self.tell({"kind": "dealt", **cards})
            elif message.get("kind") == "clear":
                self.tell({"kind": "clear"})
            elif message.get("kind") in {"say", "play"}:
                text = str(message.get("text", message.get("card")))
                self.tell({"kind": "text", "text": text[:20] or "nothing"})
                self.tell({"kind": "text", "text": f"echo {len(text)}"})

    def tell(self, message: dict[str, Any]) -> None:
        """One text frame of less than 64 KiB."""
        raw = json.dumps(message).encode()
        head = bytes([0x81, len(raw)]) if len(raw) < 126 else b"\x81\x7e" + struct.pack(">H", len(raw))
        self.wfile.write(head + raw)

    def hear(self) -> dict[str, Any] | None:
        """The next text frame; ``None`` at a close frame or the end."""
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 15 != 1:
            return None
        size = head[1] & 127
        if size == 126:
            size = struct.unpack(">H", self.rfile.read(2))[0]
        mask = self.rfile.read(4)
        found: dict[str, Any] = json.loads(bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(size))))
        return found


if __name__ == "__main__":
    serve(Board)
