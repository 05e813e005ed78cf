"""Threat: a page has taken over the browser's container, and its driver says and leaves what the attacker likes.
What an outcome may say is in ``tests/unit/test_outcomes.py``; here are the ways out of the container.
"""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest
from browsing import APP, MAX_RUN_DIRECTORY, RECORDED, URL, page
from harness import write_files

from runner.browser.outcome import BrowserFacts, Outcome, Signal, StepRecord, write_outcome
from runner.browser.trace import Click
from runner.controller.line import Replayed
from runner.controller.sessions import perform
from runner.controller.sessions.chaos import ChaosRequest, chaos_job
from runner.controller.sessions.record import record_session
from runner.controller.sessions.request import Application, SessionRequest, settle_session

TEXT = "<script>x</script>\x1b[2J\u202e\n</pre>\"'{{7*7}}"
LYING = Outcome(
    "done", TEXT, BrowserFacts("chromium", TEXT, TEXT, "on", TEXT, TEXT, TEXT, TEXT), started=TEXT,
    trace=(Click("#go"),), steps=(StepRecord(0, "done", 0.0, 1.0, TEXT, "shot-0.png"),), actions=(TEXT,),
    signals=(Signal("pageerror", 0, 1.0, RECORDED, TEXT, url=TEXT, page=TEXT, screenshot="shot-0.png"),),
    uncontrolled=(TEXT,), dropped=((TEXT, 1),), files=("network.har", "replay.webm", "shot-0.png"))
PROLOGUE = """
import base64, os, sys
os.mkdir("out")
os.write(1, b"launched\\nready\\nstep 1 of 1\\n")
def leave(name, data=b"x"):
    path = os.path.join(b"out", name.encode() if isinstance(name, str) else name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
def conclude():
    leave("outcome.json", base64.b64decode(OUTCOME))
"""


def taken_over(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Replayed:
    """A recording whose driver is this program."""
    raw = base64.b64encode(write_outcome(LYING)).decode()
    text = f"OUTCOME = {raw!r}\n{PROLOGUE}\n{dedent(program)}"
    monkeypatch.setattr(perform, "DRIVER_ARGV", ("/usr/bin/python3", "-I", "-S", "-B", "-c", text))
    monkeypatch.setenv("RUNNER_STORE", str(tmp_path / "store"))
    write_files(tmp_path / "payload", {"app.py": APP, "page.html": page("")})
    application = Application(str(tmp_path / "payload"), "python3 app.py", URL)
    job = chaos_job(ChaosRequest(seed=1, steps=1), application)
    settled = settle_session(SessionRequest(application), job)
    return record_session(settled, out=tmp_path / "run")


def left_in(folder: Path) -> set[str]:
    """Files of a run directory; none is a link."""
    assert not [path for path in folder.rglob("*") if path.is_symlink()]
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < MAX_RUN_DIRECTORY
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


OURS = {"events.jsonl", "incident.json", "manifest.txt", "repro_test.py", "result.json", "stdout-1.bin"}


def test_links_holes_and_odd_names_stay_in_the_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = taken_over(r"""
        os.symlink("/etc/passwd", "out/network.har")
        os.symlink("/workspace/job.json", "out/trace.zip")
        try:
            os.mkfifo("out/replay.webm")
        except PermissionError:
            leave("replay.webm", b"no fifo: the profile has none")
        with open("out/shot-0.png", "wb") as file:
            file.truncate(200 << 20)
        leave("sub/deep/shot.png"); leave("sub/replay.webm"); leave("repro_test.py"); leave("incident.json")
        leave("result.json"); leave("report.html"); leave(b"\x1b[2J\xff.png"); leave("..png"); leave("-rf.png")
        leave("x\u202e.webm"); leave("x" * 250 + ".png"); leave("outcome.json.part")
        conclude()
        """, tmp_path, monkeypatch)
    assert (done.result.verdict, done.fault) == ("recorded", None)
    assert done.result.reasons == (f"pageerror: {RECORDED}", *(
        f"{name} could not be scrubbed, and was not kept"
        for name in ("incident.json", "outcome.json.part", "report.html", "repro_test.py", "result.json")))
    assert left_in(done.directory) == OURS | {"replay.webm"}
    assert (done.directory / "replay.webm").read_bytes() == b"no fifo: the profile has none"


BOMB = io.BytesIO()
with zipfile.ZipFile(BOMB, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("trace.trace", bytes(64 << 20))


def test_bombs_and_deep_archives_are_left_out_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = base64.b64encode(BOMB.getvalue()).decode()
    done = taken_over(f"""
        leave("trace.zip", base64.b64decode({bomb!r}))
        leave("network.har", b'{{"log":' * 100000 + b"1" + b"}}" * 100000)
        leave("dom.html", b"<div>" * 400000)
        conclude()
        """, tmp_path, monkeypatch)
    assert done.result.verdict == "recorded", done.result.reasons
    assert left_in(done.directory) == OURS | {"dom.html"}
    assert [reason for reason in done.result.reasons if "could not be scrubbed" in reason] == [
        "network.har could not be scrubbed, and was not kept", "trace.zip could not be scrubbed, and was not kept"]


def test_what_a_lying_driver_says_is_shown_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every text of its outcome is markup, an escape and an override; none is any of these in what we write."""
    done = taken_over("conclude()", tmp_path, monkeypatch)
    assert left_in(done.directory) == OURS
    for name in OURS - {"stdout-1.bin", "manifest.txt"}:
        text = (done.directory / name).read_text()
        assert not set(text) & {"\x1b", "\u202e"}, name
    told = done.result.told_json()
    assert not set(told) & {"\x1b", "\u202e"}
    compile((done.directory / "repro_test.py").read_text(), "repro_test.py", "exec")


NO_OUTCOME = {
    "nothing": ("", "the driver left no outcome: exited"),
    "a link": ("os.symlink('/workspace/job.json', 'out/outcome.json')", "the driver left no outcome: exited"),
    "a folder": ("os.makedirs('out/outcome.json/x')", "the driver left no outcome: exited"),
    "too much of it": ("leave('outcome.json', b' ' * (60 << 20))", "the driver's outcome.json: has 62914560 bytes"),
    "files before it": ("[leave(f'a{number:05}.png') for number in range(10000)]; conclude()",
                        "the driver left no outcome: exited"),
    "half of it": ("leave('outcome.json', base64.b64decode(OUTCOME)[:-1])", "the driver's outcome.json: "),
}


@pytest.mark.parametrize("what", NO_OUTCOME)
def test_a_driver_without_outcome_is_no_recording(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, why = NO_OUTCOME[what]
    done = taken_over(program, tmp_path, monkeypatch)
    assert (done.result.verdict, done.result.exit_code) == ("no_verdict", 3)
    assert done.result.reasons[0].startswith(why)
    assert left_in(done.directory) == {"events.jsonl", "manifest.txt", "result.json", "stdout-1.bin"}


def test_a_driver_that_floods_and_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its output is cut, and it is ended for it; its volume is full by then."""
    done = taken_over(r"""
        import threading
        def fill():
            try:
                with open("out/replay.webm", "wb") as file:
                    while True:
                        file.write(bytes(1 << 20))
            except OSError:
                return
        threading.Thread(target=fill).start()
        while True:
            os.write(1, b"ready\n\x1b[2J" * 1000)
        """, tmp_path, monkeypatch)
    assert (done.result.verdict, done.result.exit_code) == ("no_verdict", 3)
    assert done.result.reasons == ("the browser ran out of a resource: output_limit",)
    assert (done.directory / "stdout-1.bin").stat().st_size == 1 << 20


def test_it_reaches_the_application_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the browser's container, too: loopback, the application's port, and no process or file of another."""
    done = taken_over(r"""
        import json, socket
        def rows(name):
            return [line.split() for line in open("/proc/net/" + name).read().splitlines()[1:]]
        while True:
            with socket.socket() as sock:
                if sock.connect_ex(("127.0.0.1", 8801)) == 0:
                    break
        others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
        print(json.dumps([sorted(os.listdir("/sys/class/net")), rows("route"),
                          [int(row[1].rpartition(":")[2], 16) for row in rows("tcp") if row[3] == "0A"], others,
                          os.listdir("/dev/shm"), os.listdir("/tmp"), sorted(os.listdir("/workspace"))]))
        conclude()
        """, tmp_path, monkeypatch)
    assert done.result.verdict == "recorded"
    said = (done.directory / "stdout-1.bin").read_bytes().splitlines()[3]
    assert json.loads(said) == [["lo"], [], [8801], [], [], [], ["job.json", "out"]]
