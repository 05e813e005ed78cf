"""Browser sessions against hostile applications: the real command, one application, and what came of it.

Whatever the attack was, :func:`ended` itself checks that nothing of the session is left on the engine or in the
host's folder for temporary files, that no traceback was printed, and that the run directory is small.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import MIB, Files, engine, write_files

MARKED = str(Path(__file__).with_name("marked.py"))
URL = "http://127.0.0.1:8801/"
RECORDED = "the recorded failure"
"""What the page's button throws: the failure that a replay looks for."""
FOUND = [f"pageerror: {RECORDED} at HTMLButtonElement.onclick /"]
"""How it is called where it was seen."""
MAX_RUN_DIRECTORY = 96 * MIB
"""Bytes; the driver's policy lets no more artifacts out."""

BUTTON = f"<button id=go onclick=\"throw new Error('{RECORDED}')\">Go</button>"
"""A page that can be replayed. What an attack adds comes before or after it."""
APP = """
import http.server, os, pathlib, socketserver, sys, threading
sys.dont_write_bytecode = True
told = threading.Event()
try:
    from attack import attack
except ImportError:
    attack = lambda handler: False
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def say(self, body, status=200, kind="text/html; charset=utf-8", **headers):
        body = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        try:
            if attack(self):
                return
            if self.path == "/tell":
                print(self.rfile.read(int(self.headers["Content-Length"])).decode(), flush=True)
                told.set()
            if self.path in ("/tell", "/wait"):
                told.wait(60)
                self.say("", kind="text/javascript")
                return
            here = pathlib.Path("page.html" if self.path == "/" else self.path.lstrip("/").partition("?")[0])
            if self.path == "/favicon.ico" or not here.is_file():
                self.say("no such page", 404)
            else:
                self.say(here.read_bytes())
        except OSError:
            pass
    do_POST = do_GET
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128
    def handle_error(self, *_):
        pass
Server(("127.0.0.1", 8801), Handler).serve_forever()
"""
"""Serves the payload's files. A module ``attack`` may answer first: ``attack(handler)`` says whether it has. What is
posted to ``/tell`` is printed, and ``/wait`` is answered when that has happened.
"""


@dataclass(frozen=True, repr=False)
class Ended:
    """A command that has ended, and its evidence."""

    code: int
    result: dict[str, Any]
    directory: Path
    err: str

    def __repr__(self) -> str:
        run = (self.result.get("samples") or [{}])[0]
        told = {"reasons": self.result.get("reasons", self.result), "said": self.said()[:500], "err": self.err[-500:],
                "session": run.get("session"), "target": (run.get("target") or {}).get("cause")}
        return f"exit code {self.code}: {json.dumps(told)[:4000]}"

    @property
    def run(self) -> dict[str, Any]:
        """The first run."""
        sample: dict[str, Any] = self.result["samples"][0]
        return sample

    @property
    def session(self) -> dict[str, Any]:
        """What the driver said of it."""
        session: dict[str, Any] = self.run["session"]
        return session

    def keys(self, state: str) -> list[str]:
        """Names of the failures in a state: reproduced, not_reproduced, new or recorded."""
        assert self.result.get("session"), self
        return [each["key"] for each in self.result["session"]["failures"] if each["state"] == state]

    def noise(self) -> dict[str, int]:
        """How many signals each rule took for noise."""
        return {each["rule"]: each["count"] for each in self.session["noise"]}

    def said(self, index: int = 1) -> str:
        """What the application of a run printed."""
        path = self.directory / f"target-stdout-{index}.bin"
        return path.read_text() if path.exists() else ""

    def lines(self) -> bytes:
        """What the driver of the first run printed."""
        path = self.directory / "stdout-1.bin"
        return path.read_bytes() if path.exists() else b""

    def size(self) -> int:
        """Bytes of the run directory."""
        return sum(path.stat().st_size for path in self.directory.rglob("*") if path.is_file())


def page(attack: str, button: str = BUTTON) -> str:
    """A document with the button and a script."""
    return f"<!doctype html><meta charset=utf-8><title>app</title><body>{button}<script>{attack}</script>"


def telling(attack: str) -> str:
    """A page whose script makes an object ``seen``, and tells the application of it before its button is there."""
    return ("<!doctype html><meta charset=utf-8><title>app</title><body><script>const seen = {}; (async () => {"
            + attack + "})().catch(error => { seen.error = String(error); }).then(() => fetch('/tell', {method: "
            "'POST', body: JSON.stringify(seen)}))</script><script src=/wait></script>" + BUTTON)


def click(selector: str = "#go", **more: object) -> dict[str, object]:
    """A step of a recorded trace."""
    return {"kind": "click", "selector": selector, "force": True, "repeat": 1, "delay_ms": 50, **more}


def incident(trace: Sequence[object] = (click(),), **keys: object) -> dict[str, object]:
    """A recording as LOKI writes it, of one failure."""
    return {"run_id": "run_20260101_000000", "timestamp": "2026-01-01T00:00:00", "target_url": URL,
            "persona": "RageClicker", "browser": "chromium", "seed": 1, "device": None, "orientation": "portrait",
            "duration_seconds": 1.0, "crashes": [RECORDED], "replay_trace": list(trace), "concurrency": 1, **keys}


def replayed(place: Path, files: Files, *options: object, record: dict[str, object] | None = None) -> Ended:
    """Replay a recording against an application."""
    folder = place / "recorded"
    folder.mkdir()
    (folder / "incident.json").write_text(json.dumps(record or incident()))
    return ended(place, "replay", folder, "--yes", *application(place, files), *options)


def recorded(place: Path, files: Files, *options: object) -> Ended:
    """Record a session with an application, with everything that can be kept of one."""
    return ended(place, "chaos", "--target-url", URL, "--seed", 1, *application(place, files),
                 *(options or ("--persona", "rage-clicker", "--steps", 2)))


def application(place: Path, files: Files) -> list[object]:
    """The options that name it."""
    write_files(place / "payload", {"app.py": APP, **files})
    return ["--payload", place / "payload", "--target-command", "python3 app.py"]


def ended(place: Path, *words: object) -> Ended:
    """Run a command to its end."""
    with started(place, *words, "--out", place / "run", "--json", "--quiet") as (process, mark):
        out, err = process.communicate(timeout=400)
    assert "Traceback" not in err, err
    nothing_is_left(place, mark)
    result = json.loads(out)
    done = Ended(process.returncode, result, place / "run", err)
    assert not done.directory.exists() or done.size() < MAX_RUN_DIRECTORY
    return done


@contextmanager
def started(place: Path, *words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in the background, and what names its objects; it is killed at the end, if it is still there."""
    mark = secrets.token_hex(5)
    (place / "tmp").mkdir()
    env = {**os.environ, "TMPDIR": str(place / "tmp"), "RUNNER_STORE": str(place / "store")}
    with subprocess.Popen([sys.executable, MARKED, mark, *map(str, words)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=env, stdin=subprocess.DEVNULL) as process:
        try:
            yield process, mark
        finally:
            process.kill()


def on_the_engine(mark: str) -> list[str]:
    """Names of all containers and volumes of a command, which has two sessions."""
    filters = {"name": f"runner-{mark}"}
    volumes = engine().volumes(filters=filters).get("Volumes") or []
    return sorted([entry["Names"][0] for entry in engine().containers(all=True, filters=filters)]
                  + [entry["Name"] for entry in volumes])


def nothing_is_left(place: Path, mark: str) -> None:
    """Neither on the engine nor in the host's temporary folder."""
    assert on_the_engine(mark) == []
    assert list((place / "tmp").iterdir()) == []
