"""Threat: what is meant to end a sandbox is held back, one line of defence at a time (rows 13, 14).

First the leash (stdin), then the lifetime of the init itself; the sweep is among the attacks on the controller.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Thread

import pytest
from boundaries import here
from controllers import is_alive, processes, running
from harness import Opened, ending, engine, opened
from waiting import eventually

from runner.controller.observe import RunsCut, observe, observe_one
from runner.errors import StewardLost
from runner.sandbox.backends.docker.attach import Attachment
from runner.sandbox.backends.docker.container import Container
from runner.sandbox.backends.docker.labels import ROLE, SESSION
from runner.sandbox.deadline import Deadline
from runner.sandbox.exit import Cause
from runner.sandbox.trailer import new_nonce, release_message

SLEEP = ("python3", "-c", "import time; print('up', flush=True); time.sleep(600)")


@contextmanager
def bare(place: Opened, lifetime: int) -> Iterator[Container]:
    """A workload's container of an open session, started and waiting, with a lifetime of its own."""
    session = place.session
    session.prepare(1).discard()
    spec = session._blueprint.workload(1, session._blueprint.tools(1))
    argv = (spec.argv[0], "--lifetime", str(lifetime), *spec.argv[3:])
    container = Container(engine(), replace(spec, name=spec.name + "-bare", argv=argv),
                          dialect=session._blueprint.dialect)
    try:
        container.start()
        yield container
    finally:
        container.discard()


def release(container: Container) -> Attachment:
    """Let the workload run; returns once it has said something."""
    attachment = container.attachment
    assert attachment is not None
    attachment.send(release_message(new_nonce(), ()))
    assert attachment.wait_readable(Deadline.after(20))
    assert attachment.read() is not None
    return attachment


def exit_code(container: Container) -> int:
    """How the container ended; it must do so by itself."""
    return container.wait(Deadline.after(20)).exit_code


def test_leash_that_ends_ends_the_workload() -> None:
    """Row 14: the end of stdin is exit 71 of the init, whatever the workload does."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 600) as container:
        release(container).slip_leash()
        assert exit_code(container) == 71


def test_leash_that_ends_before_the_release_runs_nothing() -> None:
    """Row 14: a container that was started ahead and is never needed ends with 70; nothing of the payload ran."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 600) as container:
        assert container.attachment is not None
        container.attachment.slip_leash()
        assert exit_code(container) == 70


def test_second_hand_on_the_leash_does_not_hold_it() -> None:
    """Row 14: another client attached to stdin does not keep it open when the controller's end is gone."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 600) as container:
        attachment = release(container)
        with closing(Attachment(engine(), container.id)):
            attachment.slip_leash()
            assert exit_code(container) == 71


def test_lifetime_ends_what_the_leash_does_not() -> None:
    """Row 14: with the leash held by somebody who lives on, the init's own timer ends everything: exit 72."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 2) as container:
        release(container)
        assert exit_code(container) == 72


def test_lifetime_holds_before_the_release() -> None:
    """Row 14: a container that nobody releases does not wait for ever."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 1) as container:
        assert exit_code(container) == 72


STUFFED = """
import os, time
os.write(1, b"up")
os.set_blocking(2, False)
stalled = 0
while stalled < 10:
    try:
        os.write(2, b"x" * 4096)
        stalled = 0
    except BlockingIOError:
        stalled += 1
        time.sleep(0.05)
"""


def test_lifetime_holds_while_the_trailer_cannot_be_written() -> None:
    """Row 14: the main process is over, nobody reads stderr, the pipe is full: the init still ends in time: 72."""
    with opened({}, ("python3", "-c", STUFFED), runs=2) as place, bare(place, 5) as container:
        attachment = release(container)
        assert is_alive(container.id)
        eventually(lambda: not is_alive(container.id), "the init outlives its lifetime")
        while attachment.read() is not None:
            pass
        assert exit_code(container) == 72


@pytest.mark.parametrize("release_bytes", [b"", b"x" * 44, b"RUNINIT1" + bytes(32) + b"\xff\xff\xff\xff",
                                           b"RUNINIT1" + bytes(32) + b"\0\0\0\3A=1"])
def test_release_that_is_none_runs_nothing(release_bytes: bytes) -> None:
    """Row 14: an empty, wrong, too large or unfinished release: exit 70, and the payload never ran."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 600) as container:
        assert container.attachment is not None
        container.attachment.send(release_bytes)
        container.attachment.slip_leash()
        assert exit_code(container) == 70


def containers(mark: str, role: str) -> list[str]:
    """Containers of a session that run, by role."""
    return [entry["Id"] for entry in engine().containers(filters={"label": [f"{SESSION}={mark}", f"{ROLE}={role}"]})]


@contextmanager
def killing(mark: str, role: str, sign: str) -> Iterator[None]:
    """Somebody else kills a container of the session as soon as its workload shows up."""
    def kill() -> None:
        eventually(lambda: any(sign in line for entry in containers(mark, "workload") for line in processes(entry)),
                   "no workload came to run")
        for entry in containers(mark, role):
            engine().kill(entry, "SIGKILL")

    thread = Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def test_workload_killed_by_somebody_else_has_no_verdict() -> None:
    """Row 16: no trailer, no OOM, not us: init_lost, with the engine's 137 beside it and no return code."""
    with opened({}, SLEEP) as (session, _, _, mark):
        run = session.prepare(1)
        with killing(mark, "workload", "time.sleep"):
            seen = observe_one(run)
    assert (ending(seen), seen.status.engine_exit_code) == (("init_lost", None, None), 137)


def test_steward_killed_by_somebody_else_is_no_verdict_on_the_payload() -> None:
    """Row 14: an infrastructure fault: the run that was under way is not judged, and nothing is left."""
    with opened({}, ("python3", "-c", f"import time; time.sleep({here(1.5)})")) as (session, plan, _, mark):
        with killing(mark, "steward", "time.sleep"), pytest.raises(RunsCut) as cut:
            observe(session, plan, lambda _: None)
        assert (cut.value.finished, type(cut.value.__cause__)) == ((), StewardLost)


def test_cancel_ends_a_run_at_once() -> None:
    """Row 12: cancelled is a cause of its own, with no return code."""
    with opened({}, SLEEP) as (session, _, _, mark):
        run = session.prepare(1)
        session.cancel()
        assert run.execute().status.cause is Cause.CANCELLED
        run.discard()
        eventually(lambda: containers(mark, "workload") == [], "a cancelled workload lives on")
    assert running(mark) == []


def test_stop_by_the_engine_reaches_the_main_process_only() -> None:
    """Row 13: a TERM from outside is passed on, and the main process's own answer to it is the ending."""
    program = "import signal, os, time; signal.signal(15, lambda *_: os._exit(44)); os.write(1, b'x'); time.sleep(600)"
    with opened({}, ("python3", "-c", program), runs=2) as place, bare(place, 600) as container:
        release(container)
        engine().kill(container.id, "SIGTERM")
        assert exit_code(container) == 44


def test_attachment_is_private_to_the_engine() -> None:
    """Row 24: the streams are a connection to the engine's socket, not a port that others can reach."""
    with opened({}, SLEEP, runs=2) as place, bare(place, 600) as container:
        assert container.attachment is not None
        assert container.attachment._socket.family == socket.AF_UNIX
