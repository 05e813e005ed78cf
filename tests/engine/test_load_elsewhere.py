"""An application that runs already: the load gets a network, and reaches that application and nothing else."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any, ClassVar

import pytest

from runner import api
from runner.controller.loads import places

NAME = "shop.test"
SCRIPT = """
import http from 'k6/http';
import { options as traffic, evidence } from './litetraffic/runtime.js';
export const options = OPTIONS;
export default function () {
  const away = ['http://127.0.0.2:PORT/', 'http://169.254.169.254/'].map(
    (url) => http.get(url, { timeout: '1s', tags: { operation: 'away' } }).status);
  evidence('nowhere-else', away.every((status) => status === 0), { actual: away });
  const answer = http.get(__ENV.LT_TARGET + '/', { timeout: '2s', tags: { operation: 'home' } });
  evidence('answered', answer.status === 200, { actual: answer.status });
}
"""


class Shop(BaseHTTPRequestHandler):
    """Answers everything; remembers whom it was asked for, and what was made and removed."""

    asked: ClassVar[set[str]] = set()
    made: ClassVar[Queue[str]] = Queue()
    removed: ClassVar[Queue[str]] = Queue()

    def do_GET(self) -> None:
        self.asked.add(self.headers["Host"])
        body = b'{"value": 1}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.made.put(self.path)
        self.send_response(201)
        self.send_header("Content-Length", "11")
        self.end_headers()
        self.wfile.write(b'{"id": "f"}')

    def do_DELETE(self) -> None:
        self.removed.put(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def shop() -> Iterator[int]:
    """Its port, on every loopback address."""
    Shop.asked, Shop.made, Shop.removed = set(), Queue(), Queue()
    server = ThreadingHTTPServer(("0.0.0.0", 0), Shop)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


def scenario(place: Path, port: int, options: str = "traffic()", **changes: Any) -> Path:
    (place / "scenario").mkdir()
    (place / "scenario" / "main.js").write_text(SCRIPT.replace("PORT", str(port)).replace("OPTIONS", options))
    (place / "scenario" / "manifest.json").write_text(json.dumps({
        "schema_version": 1, "name": "elsewhere", "script": "main.js",
        "actors": [{"class": "visitor", "count": 1, "auth_recipe": "none"}], "fixtures": {"recipe": "none"},
        "observer": "itself", "journeys": [{"name": "visit", "max_requests": 3, "max_writes": 0}],
        "assertions": ["answered", "nowhere-else", "state"],
        "observations": [{"path": "/state", "assertion": "state", "expected": {"/value": 1}}],
        "schedule": {"unit": "journeys_per_second", "phases": [{"name": "only", "seconds": 1, "rate": 2}]},
        "budgets": {"max_seconds": 20, "max_requests": 50, "max_write_attempts": 5, "max_in_flight": 4,
                    "max_artifact_bytes": 8 << 20}, **changes}))
    return place / "scenario"


def test_only_the_application_is_reached_and_the_network_is_told(shop: int, tmp_path: Path) -> None:
    at = api.Application(url=f"http://127.0.0.1:{shop}")
    result = api.verify(scenario(tmp_path, shop), at, out=tmp_path / "run").result
    assert (result.verdict, result.reasons) == ("pass", ())
    assert [(row.what, row.recorded, row.used) for row in result.drift] == [("network", "none", "host")]
    assert any("outside the sandbox" in warning for warning in result.warnings)
    assert Shop.asked == {f"127.0.0.1:{shop}"}


def test_a_name_is_resolved_once_and_by_us(shop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody but this process knows the name, so k6 can only have it from here."""
    real = socket.getaddrinfo
    monkeypatch.setattr(places.socket, "getaddrinfo",
                        lambda host, *more, **words: real("127.0.0.1" if host == NAME else host, *more, **words))
    at = api.Application(url=f"http://{NAME}:{shop}")
    result = api.verify(scenario(tmp_path, shop), at, out=tmp_path / "run").result
    assert (result.verdict, result.reasons) == ("pass", ())
    assert Shop.asked == {f"{NAME}:{shop}"}


def test_a_script_that_leads_the_name_elsewhere_gets_nowhere(shop: int, tmp_path: Path,
                                                             monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.getaddrinfo
    monkeypatch.setattr(places.socket, "getaddrinfo",
                        lambda host, *more, **words: real("127.0.0.1" if host == NAME else host, *more, **words))
    options = f"Object.assign(traffic(), {{ hosts: {{ '{NAME}': '127.0.0.2' }} }})"
    result = api.verify(scenario(tmp_path, shop, options), api.Application(url=f"http://{NAME}:{shop}"),
                        out=tmp_path / "run").result
    assert result.assertions is not None
    assert {row.id: row.status for row in result.assertions}["answered"] == "fail"
    assert "127.0.0.2" in (tmp_path / "run" / "engine.stderr.log").read_text(encoding="utf-8") + (
        tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8")
    assert Shop.asked == {f"{NAME}:{shop}"}, "the readiness check and the observation are ours"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_made_there_is_removed_though_somebody_loses_patience(shop: int, tmp_path: Path,
                                                                       number: signal.Signals) -> None:
    made = scenario(
        tmp_path, shop, schedule={"unit": "journeys_per_second", "phases": [{"name": "l", "seconds": 60, "rate": 1}]},
        budgets={"max_seconds": 90, "max_requests": 500, "max_write_attempts": 5, "max_in_flight": 4,
                 "max_artifact_bytes": 8 << 20},
        fixtures={"recipe": "own", "owned_http": {"create_path": "/made", "delete_path": "/made/{fixture_id}",
                                                  "id_pointer": "/id"}})
    running = subprocess.Popen([sys.executable, "-m", "runner", "verify", str(made), "--target",
                                f"http://127.0.0.1:{shop}", "--out", str(tmp_path / "run"), "--quiet"],
                               stderr=subprocess.PIPE, text=True)
    assert Shop.made.get(timeout=60) == "/made"
    assert Shop.removed.empty()
    running.send_signal(number)
    _, said = running.communicate()
    assert (running.returncode, Shop.removed.get_nowait()) == (130, "/made/f"), said
    assert "Traceback" not in said
