"""Threat: the application under test attacks the driver beside it through what they share, or floods what is read of it
(issue 4, browser part). They share the network namespace of a loopback, and nothing else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browsing import BUTTON, FOUND, click, incident, page, recorded, replayed

SCAN = r"""
import json, os, pathlib, socket, threading, time
found = {}
def rows(name):
    return [line.split() for line in pathlib.Path("/proc/self/net", name).read_text().splitlines()[1:]]
def scanned(family, host):
    sock, open_ports = socket.socket(family), []
    for port in range(1, 65536):
        if sock.connect_ex((host, port)) == 0:
            # A port that nobody has may be given to this very socket, which then meets itself.
            open_ports += [port] if sock.getsockname() != sock.getpeername() else []
            sock = socket.socket(family)
    return open_ports
def answers(kind, name):
    with socket.socket(socket.AF_UNIX, kind) as sock:
        try:
            sock.connect(name)
            sock.send(b"x")
        except OSError:
            return False
        return True
def scan():
    while sum(len(row) == 7 for row in rows("unix")) < 20:  # sockets of Chromium: it is up
        time.sleep(0.05)
    found["open"] = scanned(socket.AF_INET, "127.0.0.1")
    found["open6"] = scanned(socket.AF_INET6, "::1")
    found["listening"] = [int(row[1].rpartition(":")[2], 16) for name in ("tcp", "tcp6") for row in rows(name)
                          if row[3] == "0A"]
    found["datagrams"] = [row for name in ("udp", "udp6", "raw", "udplite", "packet") for row in rows(name)]
    unix = rows("unix")
    found["listening unix"] = [row for row in unix if int(row[3], 16) & 0x10000]
    named = [row[7] for row in unix if len(row) > 7]
    found["paths"] = [name for name in named if not name.startswith("@")]
    found["answering"] = [name for name in named for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM,
                          socket.SOCK_SEQPACKET) if answers(kind, "\0" + name[1:])]
    pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
    found["processes"] = sorted(pids - {1, os.getpid()})
    threads = {int(name) for name in os.listdir("/proc/self/task")}
    found["signalled"] = []
    for pid in set(range(1, 40000)) - threads - pids:
        try:
            os.kill(pid, 0)
            found["signalled"].append(pid)
        except ProcessLookupError:
            pass
    found["shared memory"] = os.listdir("/dev/shm") + rows("/proc/sysvipc/shm") + rows("/proc/sysvipc/sem")
    found["temporary"] = os.listdir("/tmp")
    found["files"] = sorted(os.listdir("/workspace"))
    found["interfaces"] = os.listdir("/sys/class/net")
    found["routes"] = rows("route")
    print(json.dumps(found), flush=True)
    found["ready"] = True
threading.Thread(target=scan, daemon=True).start()
def attack(handler):
    if handler.path == "/ready":
        handler.say("", 200 if "ready" in found else 503)
    return handler.path == "/ready"
"""


def test_the_application_finds_no_way_to_driver_and_browser(tmp_path: Path) -> None:
    """All ports and sockets of the shared namespace, while the browser runs: Playwright speaks to it by a pipe."""
    done = replayed(tmp_path, {"page.html": page(""), "attack.py": SCAN}, "--ready", "/ready", "--ready-timeout", 240)
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert json.loads(done.said()) == {
        "open": [8801], "open6": [], "listening": [8801], "datagrams": [], "listening unix": [], "paths": [],
        "answering": [], "processes": [], "signalled": [], "shared memory": [], "temporary": [],
        "files": ["app.py", "attack.py", "page.html"], "interfaces": ["lo"], "routes": []}


FLOOD = r"""
import os, threading
def stdout():
    while True:
        os.write(1, b"ready\nstep 1 of 1\n" * 4096)
def bomb():
    for _ in range(5000):
        try:
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", "1000"])
        except OSError:
            break
    try:
        with open("full", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError:
        print("full", flush=True)
def attack(handler):
    if handler.path == "/":
        with open("page.html", "rb") as file:
            handler.say(file.read())
        threading.Thread(target=WHAT, daemon=True).start()
    return handler.path == "/"
"""


@pytest.mark.parametrize("what", ["stdout", "bomb"])
def test_an_application_that_floods_what_is_its_own_harms_itself_only(what: str, tmp_path: Path) -> None:
    """Output without end is cut at the policy's limit; processes and files end at its volume and its count."""
    done = replayed(tmp_path, {"page.html": page(""), "attack.py": FLOOD.replace("WHAT", what)})
    assert (done.code, done.keys("reproduced"), done.keys("new")) == (0, FOUND, []), done
    assert done.lines() == b"launched\nready\nstep 1 of 1\n"
    assert done.size() < 20 << 20


def test_an_application_that_ends_in_the_middle_is_told_by_its_end(tmp_path: Path) -> None:
    """The page goes on, so what it shows counts; how the application ended is evidence beside it."""
    die = "import os\ndef attack(handler):\n    if handler.path == '/die':\n        os._exit(3)\n"
    two = "<button id=die onclick=\"fetch('/die').catch(() => {})\">Die</button>" + BUTTON
    done = replayed(tmp_path, {"page.html": page("", two), "attack.py": die}, record=incident([click("#die"), click()]))
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    assert (done.run["target"]["cause"], done.run["target"]["returncode"]) == ("exited", 3)
    # The browser asks once more where a connection ends without an answer.
    assert [key.partition(" net::")[0] for key in done.keys("new")] == [
        "failed_request: GET http://127.0.0.1:8801/die:"]


@pytest.mark.parametrize(("ending", "why"), [
    ("os._exit(0)", "the application ended before it answered: exited 0 (step 1 of 1)"),
    ("threading.Event().wait()", "the application did not answer in time")], ids=["ends", "waits"])
def test_lines_of_ours_from_the_application_start_nothing(ending: str, why: str, tmp_path: Path) -> None:
    """``ready`` counts on the driver's output, not on the application's."""
    forged = f"import os, threading\nos.write(1, b'ready\\nstep 1 of 1\\n')\n{ending}\n"
    done = replayed(tmp_path, {"attack.py": forged}, "--ready-timeout", 3)
    assert (done.code, done.result["reasons"]) == (2, [f"run 1: could not run: {why}"]), done
    assert b"ready" not in done.lines()


ANSWERS = r"""
import gzip, itertools, threading, time
BOMB = gzip.compress(bytes(100 << 20))
def attack(handler):
    match handler.path.partition("?")[0]:
        case "/body":
            handler.send_response(200)
            handler.end_headers()
            while True:
                handler.wfile.write(b"x" * 65536)
        case "/headers":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while True:
                handler.wfile.write(b"X-More: " + b"x" * 4000 + b"\r\n")
        case "/slow":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
            threading.Event().wait()
        case "/redirects":
            handler.say("", 302, Location=f"/redirects?{time.monotonic_ns()}")
        case "/bomb":
            handler.say(BOMB, kind="text/plain", Content_Encoding="gzip")
        case "/kind.js" | "/kind.css" | "/kind.png":
            handler.say("<script>alert(1)</script>", kind="video/mp4; charset=\"'<script>")
        case "/cookies":
            handler.send_response(200)
            for number in range(2000):
                handler.send_header("Set-Cookie", f"c{number}={'x' * 4000}; Path=/")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        case "/garbage":
            handler.wfile.write(bytes(range(256)) * 100)
            handler.close_connection = True
        case _:
            return False
    return True
"""
BAD_ANSWERS = ("<script>for (const path of ['body', 'headers', 'slow', 'redirects', 'bomb', 'cookies', 'garbage']) "
               "fetch('/' + path).then(it => path === 'bomb' && it.text(), () => {});</script>"
               "<img src=/kind.png><link rel=stylesheet href=/kind.css><script async src=/kind.js></script>")


def test_answers_without_end_bombs_and_garbage_do_not_stop_a_session(tmp_path: Path) -> None:
    """In a recording, with everything kept: what comes of it is small, and is played again to the same verdict."""
    files = {"page.html": page("") + BAD_ANSWERS, "attack.py": ANSWERS}
    done = recorded(tmp_path, files)
    assert (done.code, done.session["state"]) == (0, "done"), done
    assert [key for key in done.keys("recorded") if key.startswith("pageerror")] == FOUND
    assert done.size() < 16 << 20


OWN = """
import json, os, pathlib, secrets
me = secrets.token_hex(8)
pathlib.Path("mark").write_text(me)
served = []
def attack(handler):
    if handler.path.startswith("/mark"):
        served.append(handler.path)
        print(json.dumps([me, pathlib.Path("mark").read_text(), served, sorted(os.listdir("."))]), flush=True)
        handler.say(me)
    return handler.path.startswith("/mark")
"""


def test_sessions_side_by_side_do_not_meet(tmp_path: Path) -> None:
    """Two at a time on the same port, each in a loopback of its own: every application saw its own browser, once."""
    script = ("document.cookie = 'seen=1'; localStorage.seen = (+localStorage.seen || 0) + 1;"
              "fetch('/mark?' + localStorage.seen).then(it => it.text()).then(() => {});")
    done = replayed(tmp_path, {"page.html": page(script), "attack.py": OWN}, "--runs", 3, "--jobs", 2)
    assert (done.code, done.keys("reproduced")) == (0, FOUND), done
    told = [json.loads(done.said(run)) for run in (1, 2, 3)]
    assert len({mark for mark, *_ in told}) == 3
    for mark, stored, served, files in told:
        assert (stored, served, files) == (mark, ["/mark?1"], ["app.py", "attack.py", "mark", "page.html"])
