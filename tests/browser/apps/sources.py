"""One page for each source of chance: what a click adds to the page depends on it."""

from __future__ import annotations

import random
from threading import Event

from serving import Handler, serve

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"></head><body>
<button id="go">go</button><div id="list"></div><script>
let value = 0;
const add = text => { const button = document.createElement("button"); button.id = "b" + text;
  button.textContent = text; document.getElementById("list").append(button); };
document.getElementById("go").onclick = () => add(value);
%s</script></body></html>"""
SOURCES = {
    "random": """value = Math.random(); add(crypto.randomUUID());
      add(crypto.getRandomValues(new Uint32Array(1))[0]);""",
    "clock": """document.getElementById("go").onclick = event =>
      add(Date.now() + "-" + performance.now() + "-" + event.timeStamp + "-" + new Intl.DateTimeFormat("en", {
        dateStyle: "short", timeStyle: "long"}).format());""",
    "timer": "setInterval(() => { value += 1; }, 7); setInterval(() => { value *= 2; value %%= 1e6; }, 11);",
    "frames": "const turn = () => { value += 1; requestAnimationFrame(turn); }; requestAnimationFrame(turn);",
    "transition": """const box = document.createElement("p"); box.textContent = "box"; document.body.append(box);
      box.style.transition = "opacity 90ms"; box.ontransitionend = () => { value += 1; add("end" + value); };
      setInterval(() => { box.style.opacity = box.style.opacity === "0.5" ? "1" : "0.5"; }, 200);""",
    "animation": """const style = document.createElement("style"); document.head.append(style);
      style.textContent = "@keyframes k { to { opacity: 0.5 } } p { animation: k 13ms infinite }";
      const box = document.createElement("p"); box.textContent = "box"; document.body.append(box);
      box.onanimationiteration = () => { value += 1; };""",
    "iframe": """const frame = document.createElement("iframe"); frame.src = "/inner"; document.body.append(frame);
      addEventListener("message", event => { value = value * 31 %% 9973 + event.data; });
      setInterval(() => { value = value * 17 %% 9973; }, 9);""",
    "requests": """document.getElementById("go").onclick = () => { for (let part = 0; part < 4; part += 1)
      fetch("/slow?" + part).then(r => r.text()).then(text => {
        value = value * 10 %% 9973 + part; add(value + text); }); };""",
    "indexeddb": """const opening = indexedDB.open("d"); opening.onupgradeneeded = () =>
        opening.result.createObjectStore("s", {autoIncrement: true});
      document.getElementById("go").onclick = () => { const store = opening.result.transaction("s", "readwrite")
        .objectStore("s"); store.add(1).onsuccess = event => add(event.target.result); };""",
    "events": """new EventSource("/stream").onmessage = event => { value = event.data; };""",
    "worker": """const worker = new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(1), 9)"])));
      worker.onmessage = () => { value += 1; };""",
    "tasks": """const channel = new MessageChannel(); channel.port1.onmessage = () => { value += 1;
      if (value %% 1000 === 0) add("task" + value); channel.port2.postMessage(0); }; channel.port2.postMessage(0);""",
    "endless": """const again = () => fetch("/slow?again").then(() => { value += 1; again(); }); again();""",
}
INNER = "<script>let n = 0; setInterval(() => parent.postMessage(n += 1, '*'), 8)</script>"


class Sources(Handler):
    """The pages, an answer that takes a while, and events that come when they like."""

    def do_GET(self) -> None:
        """By path."""
        name = self.path.strip("/")
        if name in SOURCES:
            self.answer(200, PAGE % (name, SOURCES[name].replace("%%", "%")), "text/html")
        elif name == "inner":
            self.answer(200, INNER, "text/html")
        elif name == "stream":
            self.stream()
        else:
            Event().wait(random.uniform(0, 0.03) if "again" not in name else 0)
            self.answer(200, "", "text/plain")

    def stream(self) -> None:
        """An event at odd moments, as long as somebody listens."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        count = 0
        while True:
            count += 1
            try:
                self.wfile.write(b"data: %d\n\n" % count)
            except OSError:
                return
            Event().wait(random.uniform(0.05, 0.3))


if __name__ == "__main__":
    serve(Sources)
