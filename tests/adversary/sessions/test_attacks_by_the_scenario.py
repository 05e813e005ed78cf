"""What a hostile scenario, or a hostile application under load, can do to a run: exact outcomes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PORT = 8099
SERVER = """
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HOW, PORT = sys.argv[1], int(sys.argv[2])
class Target(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        if HOW == "silent": time.sleep(600)
        if HOW == "closes": return self.connection.close()
        self.send_response(302 if HOW == "redirects" else 200)
        if HOW == "redirects": self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Type", "application/json")
        if HOW in ("trickles", "floods"):
            self.end_headers()
            if self.path != "/state": return
            while True:
                self.wfile.write(b" " if HOW == "trickles" else b" " * 65536)
                self.wfile.flush()
                if HOW == "trickles": time.sleep(0.2)
        body = b'{"value": 1}'
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer(("127.0.0.1", PORT), Target).serve_forever()
"""
HEAD = """
import http from 'k6/http';
import exec from 'k6/execution';
import { options as traffic, evidence } from './litetraffic/runtime.js';
export const options = traffic();
"""
HONEST = HEAD + """
export default function () {
  const answer = http.get(__ENV.LT_TARGET + '/', { timeout: '2s' });
  evidence('answered', answer.status === 200);
}
"""


def manifest(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1, "name": "attack", "script": "main.js",
        "actors": [{"class": "visitor", "count": 1, "auth_recipe": "none"}], "fixtures": {"recipe": "none"},
        "observer": "none", "journeys": [{"name": "visit", "max_requests": 2, "max_writes": 0}],
        "assertions": ["answered"], "schedule": {"unit": "journeys_per_second",
                                                 "phases": [{"name": "only", "seconds": 1, "rate": 2}]},
        "budgets": {"max_seconds": 12, "max_requests": 50, "max_write_attempts": 5, "max_in_flight": 4,
                    "max_artifact_bytes": 8 << 20}, **changes}


def verify(place: Path, script: str, how: str = "right", **changes: Any) -> tuple[dict[str, Any], int]:
    scenario, app = place / "scenario", place / "app"
    scenario.mkdir(exist_ok=True)
    app.mkdir(exist_ok=True)
    (scenario / "main.js").write_text(script, encoding="utf-8")
    (scenario / "manifest.json").write_text(json.dumps(manifest(**changes)), encoding="utf-8")
    (app / "server.py").write_text(SERVER, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "runner", "verify", str(scenario), "--payload", str(app), "--target-command",
         f"python3 server.py {how} {PORT}", "--target-url", f"http://127.0.0.1:{PORT}", "--json", "--quiet", "--out",
         str(place / "run")], stdout=subprocess.PIPE, text=True, check=False,
        env={**os.environ, "CANARY": "the-host-has-this"})
    document: dict[str, Any] = json.loads(done.stdout)
    return document, done.returncode


def looking(**more: Any) -> dict[str, Any]:
    return {"observations": [{"path": "/state", "assertion": "state", "expected": {"/value": 1}, **more}],
            "assertions": ["answered", "state"], "budgets": {**manifest()["budgets"], "max_seconds": 20}}


def test_an_honest_scenario_passes(tmp_path: Path) -> None:
    result, code = verify(tmp_path, HONEST, **looking())
    assert (result["verdict"], code, result["reasons"]) == ("pass", 0, [])


@pytest.mark.parametrize("script", [HEAD + "export default function () { for (;;) {} }", "for (;;) {}"],
                         ids=["in a journey", "while it is loaded"])
def test_a_script_without_an_end_is_stopped(tmp_path: Path, script: str) -> None:
    result, code = verify(tmp_path, script, budgets={**manifest()["budgets"], "max_seconds": 5})
    assert (result["verdict"], code, result["lifecycle"]) == ("inconclusive", 3, "timed_out")


def test_a_flood_of_console_lines_is_dropped_and_counted(tmp_path: Path) -> None:
    script = HEAD + "export default function () { for (let i = 0; i < 30000; i++) console.log('x'.repeat(1000)); }"
    result, code = verify(tmp_path, script, budgets={**manifest()["budgets"], "max_artifact_bytes": 100_000})
    assert (result["verdict"], code) == ("error", 3)
    assert any("max_artifact_bytes" in reason for reason in result["reasons"])
    assert any(reason.startswith("console.log") for reason in result["limitations"])
    assert (tmp_path / "run" / "console.log").stat().st_size < 2 << 20


def test_nothing_of_the_host_is_to_be_seen(tmp_path: Path) -> None:
    script = HONEST.replace("const answer", "console.log(JSON.stringify(__ENV)); const answer")
    result, _ = verify(tmp_path, script)
    said = (tmp_path / "run" / "console.log").read_bytes()
    assert result["verdict"] == "pass"
    assert b"LT_RUN_ID" in said
    assert b"the-host-has-this" not in said


def test_the_first_process_keeps_its_secrets(tmp_path: Path) -> None:
    result, code = verify(tmp_path, HONEST.replace("export const", "open('/proc/1/' + 'environ'); export const"))
    assert (result["verdict"], code, result["engine_exit_code"]) == ("error", 3, 107)


@pytest.mark.parametrize("line", ["import x from 'k6/x/exec';", "import x from 'https://example.com/x.js';",
                                  "import x from '../outside.js';", "import x from '/etc/passwd';",
                                  "const x = open('/proc/1/environ');", "const x = open('../../etc/passwd');"])
def test_what_may_not_be_imported_is_refused_before_anything_runs(tmp_path: Path, line: str) -> None:
    result, code = verify(tmp_path, f"{line}\n{HONEST}")
    assert (code, result["ok"]) == (2, False)
    assert "main.js" in result["error"]


def test_a_link_out_of_the_scenario_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scenario").mkdir()
    (tmp_path / "scenario" / "data").symlink_to("/etc")
    result, code = verify(tmp_path, HONEST)
    assert (code, result["ok"]) == (2, False)
    assert "data" in result["error"]


def test_forged_events_prove_nothing(tmp_path: Path) -> None:
    forged = ("console.log('LT_EVENT ' + JSON.stringify({schema_version: 1, type: 'assertion', run_id: 'run_other', "
              "assertion: 'answered', passed: true})); evidence('unheard-of', true);")
    result, code = verify(tmp_path, HONEST.replace("evidence('answered', answer.status === 200);", forged))
    assert (result["verdict"], code) == ("inconclusive", 3)
    assert [row["status"] for row in result["assertions"]] == ["unknown"]
    assert result["load"]["undeclared"] == {"unheard-of": 2}
    assert any("another run" in reason for reason in result["limitations"])


def test_more_in_flight_than_allowed_is_seen(tmp_path: Path) -> None:
    script = HONEST.replace("export const options = traffic();",
                            "export const options = { scenarios: { traffic: { executor: 'per-vu-iterations', "
                            "vus: 9, iterations: 1 } } };")
    # Each is in flight until k6 has counted them, which it does once a second.
    script = script.replace("evidence('answered'", "sleep(1.5); evidence('answered'")
    script = script.replace("import http", "import { sleep } from 'k6';\nimport http")
    result, code = verify(tmp_path, script)
    assert (result["verdict"], code) == ("error", 3)
    assert any("max_in_flight" in reason for reason in result["reasons"])


def test_there_is_nobody_but_the_application(tmp_path: Path) -> None:
    script = HEAD + """
export default function () {
  const gone = ['http://169.254.169.254/', 'http://192.0.2.1/', 'http://example.com/'].map(
    (url) => http.get(url, { timeout: '1s', tags: { operation: 'out' } }).status);
  evidence('answered', gone.every((status) => status === 0), { actual: gone });
}
"""
    result, _ = verify(tmp_path, script, journeys=[{"name": "visit", "max_requests": 4, "max_writes": 0}])
    assert [(row["status"], row["samples"]) for row in result["assertions"]] == [("pass", 2)]


@pytest.mark.parametrize(("how", "reason"), [("trickles", "no whole answer within 5 s"),
                                             ("floods", "larger than 1 MiB"), ("redirects", "302")])
def test_an_observation_is_bounded(tmp_path: Path, how: str, reason: str) -> None:
    script = HONEST.replace("answer.status === 200", "answer.status > 0")
    result, code = verify(tmp_path, script, how, **looking())
    assert (result["verdict"], code) == ("inconclusive", 3)
    state = next(row for row in result["assertions"] if row["id"] == "state")
    assert state["status"] == "unknown"
    assert reason in json.dumps(state)


@pytest.mark.parametrize("how", ["silent", "closes"])
def test_an_application_that_never_answers_is_not_reached(tmp_path: Path, how: str) -> None:
    result, code = verify(tmp_path, HONEST, how)
    assert (result["verdict"], code) == ("error", 3)
    assert [row["status"] for row in result["assertions"]] == ["unknown"]
