"""An application and its driver: two containers, one loopback, nothing else in common."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import replace

import pytest

from runner.controller.bounds import seal_limits
from runner.controller.observe import RunsCut, observe
from runner.payload.seal import seal
from runner.sandbox.backends.base import PairTimes, Plan
from runner.sandbox.backends.docker.backend import DockerBackend
from runner.sandbox.backends.docker.container import Container
from runner.sandbox.backends.docker.engine import connect
from runner.sandbox.backends.docker.labels import SESSION
from runner.sandbox.backends.docker.render import joins
from runner.sandbox.backends.docker.run import DockerRun
from runner.sandbox.exit import Cause
from runner.sandbox.policy import load_policy

LAUNCHED, GREETING = b"launched\n", b"launched\nready\n"
APP = """
import http.server, os, pathlib, sys
pathlib.Path("state").write_text("kept")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello from " + str(os.getpid()).encode())
print("serving", flush=True)
http.server.HTTPServer(("127.0.0.1", 8801), Handler).serve_forever()
"""
DRIVER = """
import os, pathlib, socket, sys, time, urllib.request
print("launched", flush=True)
while True:
    try:
        socket.create_connection(("127.0.0.1", 8801)).close()
        break
    except OSError:
        time.sleep(0.01)
print("ready", flush=True)
print(urllib.request.urlopen("http://127.0.0.1:8801/").read().decode())
others = {name for name in os.listdir("/proc") if name.isdigit()} - {"1", str(os.getpid())}
print(sorted(os.listdir(".")), sorted(others))
pathlib.Path("out").mkdir()
pathlib.Path("out/outcome.json").write_text("{}")
"""


@contextmanager
def pair(tmp_path, app, driver, *, launch=20.0, start=20.0, run=20.0, runs=1):
    policy = load_policy("default")
    for name, text in (("app", app), ("driver", driver)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text(text)
    payload, job = (seal(tmp_path / name, seal_limits(policy)) for name in ("app", "driver"))
    backend = DockerBackend()
    times = PairTimes(launch, start, run, LAUNCHED, GREETING)
    plan = Plan(argv=("python3", "-u", "app.py"), cwd=".", env=(), policy=policy, timeout=times.in_all, runs=runs,
                image=backend.resolve_image(None), ahead=min(1, runs - 1))
    driving = replace(plan, argv=("python3", "-u", "driver.py"), artifacts=("out/**",))
    with backend.open_pair(plan, payload, driving, job, times) as session:
        marks = [half._blueprint.owner.session for half in (session._targets, session._drivers)]
        yield session, driving
    assert not left_of(marks)


def left_of(marks):
    api = connect()
    filters = [{"label": f"{SESSION}={mark}"} for mark in marks]
    return [item for mark in filters
            for item in (*api.containers(all=True, filters=mark), *(api.volumes(filters=mark).get("Volumes") or ()))]


def observed(tmp_path, app, driver, **times):
    with pair(tmp_path, app, driver, **times) as (session, plan):
        return observe(session, plan, lambda _: None)


def test_the_driver_reaches_the_application_and_sees_nothing_else_of_it(tmp_path):
    for run in observed(tmp_path, APP, DRIVER, runs=3):
        assert run.status.cause is Cause.EXITED, run.stderr.kept
        assert run.stdout.kept.decode() == "launched\nready\nhello from 32\n['driver.py'] []\n"
        assert [(item.path, item.data) for item in run.artifacts] == [(b"out/outcome.json", b"{}")]
        assert run.target.status.cause is Cause.STOPPED
        assert run.target.stdout.kept == b"serving\n"
        assert [(change.kind, change.path) for change in run.target.changes] == [("added", b"state")]


def test_a_driver_is_released_once_its_target_has_joined_since_it_may_end_at_once(tmp_path, monkeypatch):
    start, release, released = Container.start, DockerRun.release, threading.Event()

    def start_slowly(container):
        assert not (joins(container._spec) and released.wait(1.0))
        return start(container)

    def note_release(run):
        released.set()
        release(run)

    monkeypatch.setattr(Container, "start", start_slowly)
    monkeypatch.setattr(DockerRun, "release", note_release)
    run, = observed(tmp_path, APP, "import sys; sys.exit(3)")
    assert (run.status.cause, run.status.returncode) == (Cause.EXITED, 3)
    assert run.target.status.cause is Cause.STOPPED


def test_an_application_that_ends_before_it_answers_ends_the_run(tmp_path):
    run, = observed(tmp_path, "import sys; sys.exit('no database')", DRIVER)
    assert run.target.status.cause is Cause.EXITED
    assert run.target.status.returncode == 1
    assert run.target.stderr.kept == b"no database\n"
    assert run.status.cause is Cause.STOPPED


def test_an_application_that_never_answers_costs_its_start_time_only(tmp_path):
    run, = observed(tmp_path, "import time; time.sleep(600)", DRIVER, start=1.0)
    assert run.status.cause is Cause.TIMED_OUT
    assert run.stdout.kept == LAUNCHED
    assert run.target.status.cause is Cause.STOPPED


def test_a_driver_that_never_gets_ready_costs_both_times(tmp_path):
    run, = observed(tmp_path, APP, "import time; time.sleep(600)", launch=0.5, start=0.5)
    assert run.status.cause is Cause.TIMED_OUT
    assert run.stdout.kept == b""


def test_a_driver_that_hangs_is_ended_when_its_time_is_over(tmp_path):
    run, = observed(tmp_path, APP, DRIVER + "\ntime.sleep(600)\n", run=1.0)
    assert run.status.cause is Cause.TIMED_OUT
    assert run.stdout.kept.startswith(GREETING)
    assert run.target.status.cause is Cause.STOPPED


def test_an_application_that_ends_in_the_middle_does_not_end_the_driver(tmp_path):
    app = APP.replace(".serve_forever()", ".handle_request()")
    driver = DRIVER.replace('socket.create_connection(("127.0.0.1", 8801)).close()', 'sock = socket.create_connection'
                            '(("127.0.0.1", 8801)); sock.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")')
    driver = driver.replace('print(urllib.request.urlopen("http://127.0.0.1:8801/").read().decode())',
                            "while sock.recv(100): pass")
    run, = observed(tmp_path, app, driver)
    assert run.status.cause is Cause.EXITED, run.stderr.kept
    assert run.target.status.cause in (Cause.EXITED, Cause.STOPPED)  # whoever is seen first


def test_a_cancel_leaves_nothing(tmp_path):
    marks = []

    def stop(_):
        raise KeyboardInterrupt

    def interrupted():
        with pair(tmp_path, APP, DRIVER, runs=2) as (session, plan):
            marks.extend(half._blueprint.owner.session for half in (session._targets, session._drivers))
            observe(session, plan, stop)

    with pytest.raises(RunsCut):
        interrupted()
    assert len(marks) == 2
    assert not left_of(marks)
