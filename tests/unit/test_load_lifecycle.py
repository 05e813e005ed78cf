"""A run as a whole: k6's end, what is kept of it, waiting for the application, and the outcome's way to disk."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from load_runs import job_for, lived, place_in
from load_servers import application, plain

from runner.browser.job import Ready
from runner.load.job import JOB_FILE, Caps, Observation, write_job
from runner.load.outcome import OUTCOME_FILE, LoadOutcome
from runner.load_driver import processes, waiting
from runner.load_driver.engine import command, version
from runner.load_driver.leaving import ROOM, Leaving
from runner.load_driver.main import main
from runner.load_driver.stopping import Stop
from runner.load_driver.waiting import NotReady, wait_ready

NOWHERE = "http://127.0.0.1:1"
PIPES = """
import os, sys
words = sys.argv
console = words[words.index("--console-output") + 1]
metrics = words[words.index("--out") + 1].removeprefix("json=")
"""


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_SECONDS", 0.2)


def test_the_command_line_is_litetraffics() -> None:
    job = job_for(NOWHERE, script="-v.js", denied=("10.0.0.0/8", "::/0"))
    assert command(job, Path("/p"), "k6") == [
        "k6", "run", "--quiet", "--no-usage-report", "--max-redirects", "0", "--log-format", "raw",
        "--console-output", "/p/console.log", "--out", "json=/p/metrics.jsonl",
        "--blacklist-ip", "10.0.0.0/8", "--blacklist-ip", "::/0", "./-v.js"]
    pinned = job_for(NOWHERE, script="a.js", pins=(("shop.test", 80, "10.1.2.3"), ("10.9.9.9", 80, "10.9.9.9")))
    assert command(pinned, Path("/p"), "k6")[-3:] == ["--config", "/p/config.json", "./a.js"]


def test_names_that_were_resolved_are_k6s(tmp_path: Path) -> None:
    k6 = PIPES + "print(open(words[words.index('--config') + 1]).read())"
    place = place_in(tmp_path, k6)
    lived(job_for(NOWHERE, pins=(("shop.test", 80, "10.1.2.3"), ("10.9.9.9", 80, "10.9.9.9"))), place)
    assert json.loads((place.out / "engine.stdout.log").read_bytes()) == {"hosts": {"shop.test": "10.1.2.3"}}


@pytest.mark.parametrize(("k6", "lifecycle", "code", "number", "detail"), [
    ("import sys; sys.exit(0)", "finished", 0, None, ""), ("import sys; sys.exit(99)", "finished", 99, None, ""),
    ("import sys; sys.exit(107)", "crashed", 107, None, "k6 ended with 107"),
    ("import os; os.kill(os.getpid(), 11)", "crashed", None, signal.SIGSEGV, "k6 was killed by signal 11")])
def test_k6s_end_is_told_by_the_table(tmp_path: Path, k6: str, lifecycle: str, code: int | None, number: int | None,
                                     detail: str) -> None:
    outcome = lived(job_for(NOWHERE), place_in(tmp_path, k6))
    assert outcome.engine is not None
    assert (outcome.lifecycle, outcome.engine.exit_code, outcome.engine.signal) == (lifecycle, code, number)
    assert (outcome.detail, outcome.state, outcome.cleaned) == (detail, "done", None)
    assert outcome.engine.started_at.endswith("Z")
    assert outcome.engine.started_at <= outcome.engine.finished_at


def test_a_k6_that_does_not_end_is_stopped_and_what_it_wrote_is_kept(tmp_path: Path) -> None:
    k6 = PIPES + "open(console, 'w').write('one\\n'); import time; time.sleep(60)"
    look = Observation("a", "/", {"": 1})
    outcome = lived(job_for(NOWHERE, engine_seconds=0.5, observations=(look,)), place_in(tmp_path, k6))
    assert outcome.engine is not None
    assert (outcome.lifecycle, outcome.engine.timed_out, outcome.engine.survivors) == ("timed_out", True, False)
    assert (tmp_path / "out" / "console.log").read_text() == "one\n"
    assert outcome.observations == ({"assertion": "a", "status": "unknown",
                                     "reason": "k6 did not come to its end"},)


def test_a_flood_neither_fills_the_folder_nor_ends_k6(tmp_path: Path) -> None:
    k6 = PIPES + """
for path in (console, metrics):
    with open(path, "r+b" if path == metrics else "ab", buffering=0) as file:
        for _ in range(2000):
            file.write(b"x" * 9999 + b"\\n")
for stream in (sys.stdout, sys.stderr):
    for _ in range(500):
        stream.write("y" * 9999 + "\\n")
"""
    caps = Caps(console=50_000, metrics=100_000, output=20_000)
    outcome = lived(job_for(NOWHERE, caps=caps), place_in(tmp_path, k6))
    sizes = {path.name: path.stat().st_size for path in (tmp_path / "out").iterdir()}
    assert outcome.lifecycle == "finished"
    assert sizes == {"console.log": 50_000, "metrics.jsonl": 100_000, "engine.stdout.log": 20_000,
                     "engine.stderr.log": 20_000}
    assert dict(outcome.dropped) == {"console.log": 19_950_000, "metrics.jsonl": 19_900_000,
                                     "engine.stdout.log": 4_980_000, "engine.stderr.log": 4_980_000}


def test_where_the_folder_is_gone_the_run_is_told_as_broken_and_cleaned_up(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    (tmp_path / "out").rmdir()
    outcome = lived(job_for(NOWHERE), place)
    assert (outcome.state, outcome.lifecycle) == ("crashed", "crashed")
    assert outcome.detail.startswith("the driver broke: FileNotFoundError at engine.py:")


def test_the_helper_is_put_where_scripts_import_it_also_into_a_read_only_folder(tmp_path: Path) -> None:
    place = place_in(tmp_path, "import os; print(open('litetraffic/runtime.js').read())")
    (tmp_path / "scenario").chmod(0o555)
    assert lived(job_for(NOWHERE, helper=True), place).lifecycle == "finished"
    assert (tmp_path / "out" / "engine.stdout.log").read_text() == "// the helper\n\n"


def test_a_version_is_one_line_or_none(tmp_path: Path) -> None:
    assert version(place_in(tmp_path, "print('k6 v9' + 'x' * 500); print('more')").k6) == ("k6 v9" + "x" * 500)[:200]
    assert version(place_in(tmp_path, "import sys; sys.exit(1)").k6) == ""
    assert version(str(tmp_path / "none")) == ""




def test_a_port_that_opens_late_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    opened: list[socket.socket] = []
    timer = threading.Timer(0.3, lambda: opened.append(socket.create_server(("127.0.0.1", port))))
    timer.start()
    wait_ready(job_for(f"http://127.0.0.1:{port}", hold=True, ready=Ready(timeout=0.01)), Stop())
    timer.join()
    opened[0].close()


def test_without_hold_waiting_has_an_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(NotReady, match=f"nothing listens on 127.0.0.1:{port}"):
        wait_ready(job_for(f"http://127.0.0.1:{port}", hold=False, ready=Ready(timeout=0.2)), Stop())


def test_a_path_answers_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_ANSWER", 0.3)
    with application(plain(302)) as app:
        wait_ready(job_for(app.url, ready=Ready("/healthz")), Stop())
        with pytest.raises(NotReady, match=r"^/healthz answered 302, not 200, for 0\.2 s$"):
            wait_ready(job_for(app.url, ready=Ready("/healthz", 200, 0.2)), Stop())
    with application(lambda line, _: line.recv(1)) as app, pytest.raises(NotReady, match="answered nothing"):
        wait_ready(job_for(app.url, ready=Ready("/", None, 0.2)), Stop())


@pytest.mark.parametrize("path", [None, "/"])
def test_waiting_ends_when_the_run_does(path: str | None) -> None:
    stop = Stop()
    threading.Timer(0.2, stop.ask).start()
    with application(plain(500)) as app, pytest.raises(NotReady, match="ended before the application answered"):
        wait_ready(job_for(app.url if path else NOWHERE, ready=Ready(path, None, 60)), stop)


def test_the_outcome_has_its_room_before_anything_runs(tmp_path: Path) -> None:
    leaving = Leaving(tmp_path)
    part = tmp_path / f"{OUTCOME_FILE}.part"
    assert part.stat().st_size == ROOM
    assert part.stat().st_blocks * 512 >= ROOM
    leaving.leave(LoadOutcome("done", "x"))
    assert json.loads((tmp_path / OUTCOME_FILE).read_bytes())["detail"] == "x"
    assert not part.exists()


def test_an_outcome_finds_its_way_even_if_its_room_was_taken_away(tmp_path: Path) -> None:
    leaving = Leaving(tmp_path)
    (tmp_path / f"{OUTCOME_FILE}.part").unlink()
    leaving.leave(LoadOutcome("done"))
    assert json.loads((tmp_path / OUTCOME_FILE).read_bytes())["state"] == "done"


def test_an_outcome_that_cannot_be_written_is_told_as_one_that_can(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = [deep]
    Leaving(tmp_path).leave(LoadOutcome("done", observations=({"expected": deep},), cleaned=False))
    said = json.loads((tmp_path / OUTCOME_FILE).read_bytes())
    assert (said["state"], said["cleaned"]) == ("crashed", False)


@pytest.mark.parametrize("raw", [None, b"", b"{}", b"[]", b'{"a": 1}'])
def test_without_a_job_there_is_one_line_and_no_outcome(tmp_path: Path, raw: bytes | None,
                                                        monkeypatch: pytest.MonkeyPatch,
                                                        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("runner.load_driver.main.close_to_others", lambda: None)
    monkeypatch.setattr(Stop, "listen", lambda _: None)
    if raw is not None:
        (tmp_path / JOB_FILE).write_bytes(raw)
    assert main(["driver", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_driver_as_a_program_ends_early_with_an_outcome(tmp_path: Path) -> None:
    place_in(tmp_path)
    (tmp_path / JOB_FILE).write_bytes(write_job(job_for(NOWHERE)))
    program = subprocess.Popen([sys.executable, "-m", "runner.load_driver", str(tmp_path)], stdout=subprocess.PIPE,
                               env={**os.environ, "PYTHONWARNINGS": "error"})
    assert program.stdout is not None
    with program.stdout:
        assert program.stdout.readline() == b"launched\n"
        program.terminate()
        assert program.stdout.read() == b""
    assert program.wait(20) == 0
    said = json.loads((tmp_path / "out" / OUTCOME_FILE).read_bytes())
    assert (said["state"], said["lifecycle"]) == ("not_ready", "cancelled")
