"""Threat: one run reading, or being changed by, what another run left or does (rows 1, 3, 15, 20, reserve on shm)."""

from __future__ import annotations

import os
from typing import NamedTuple

import pytest
from harness import attack, attacks_with, ending, engine, of_session, opened, said

from runner.errors import SetupError
from runner.evidence.observation import Workspace

LEAVE = r"""
import ctypes, glob, json, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def segment(create):
    return libc.shmget(0x51, 4096, 0o666 | create)
def queue(flags):
    return libc.mq_open(b"/left", flags, 0o666, None)
found = {
    "volume": os.path.exists("/workspace/left"), "tmp": os.listdir("/tmp"), "shared memory": os.listdir("/dev/shm"),
    "message queue file": os.path.exists("/dev/mqueue") and os.listdir("/dev/mqueue"),
    "message queue": queue(os.O_RDWR) >= 0,
    "segment": segment(0) >= 0, "semaphore": libc.semget(0x52, 1, 0o666) >= 0,
    "sysv queue": libc.msgget(0x53, 0o666) >= 0, "changed": open("/workspace/data").read() != "sealed\n",
    "processes": [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())],
}
for place in ("/workspace", "/tmp", "/dev/shm"):
    open(place + "/left", "w").write("left")
open("/workspace/data", "w").write("other\n")
os.chmod("/workspace/data", 0)
made = [queue(os.O_RDWR | os.O_CREAT) >= 0, segment(0o1000) >= 0, libc.semget(0x52, 1, 0o1666) >= 0,
        libc.msgget(0x53, 0o1666) >= 0]
if os.fork() == 0:
    os.setsid()
    while True:
        pass
print(json.dumps([found, made]), flush=True)
"""
PLACES = ("volume", "tmp", "shared memory", "message queue file", "message queue", "segment", "semaphore", "sysv queue",
          "changed", "processes")


class Left(NamedTuple):
    """What a run found of others, and whether it could leave something itself."""

    found: dict[str, object]
    made: list[bool]


@pytest.fixture(scope="module")
def one_after_the_other() -> list[Left]:
    return [Left(*said(seen)) for seen in attacks_with(LEAVE, payload={"data": "sealed\n"}, runs=3, ahead=1)]


@pytest.fixture(scope="module")
def at_once() -> list[Left]:
    return [Left(*said(seen)) for seen in attacks_with(LEAVE, payload={"data": "sealed\n"}, runs=2, jobs=2)]


@pytest.mark.parametrize("place", PLACES)
def test_next_run_finds_nothing_of_the_last(one_after_the_other: list[Left], place: str) -> None:
    """Row 3, reserve: volume, /tmp, shared memory, queues, segments, semaphores, processes: all new for each run."""
    assert [bool(run.found[place]) for run in one_after_the_other] == [False] * 3
    assert [run.made for run in one_after_the_other] == [[True] * 4] * 3


@pytest.mark.parametrize("place", PLACES)
def test_run_beside_finds_nothing(at_once: list[Left], place: str) -> None:
    """Row 15, reserve: neither do two runs at the same time see each other."""
    assert [bool(run.found[place]) for run in at_once] == [False] * 2


def test_full_volume_is_no_trouble_for_the_next_run() -> None:
    """Row 19, 20: five runs in a row fill their volume and /tmp to the last byte; every next copy equals the seal."""
    for seen in attack({"data": bytes(1 << 20)}, "cat /dev/zero > fill; cat /dev/zero > fill2; cat /dev/zero > /tmp/x",
                       runs=5, ahead=1):
        assert ending(seen)[0] in ("exited", "disk_limit")
        assert seen.workspace is Workspace.FULL_BYTES


def test_volume_of_another_run_cannot_be_named() -> None:
    """Row 1: nothing below /proc or /dev leads to the volumes of other runs, the steward or the engine's disk."""
    for seen in attacks_with("""
        import json, os
        shown = {line.split()[4] for line in open("/proc/self/mountinfo")}
        devices = {os.stat(place).st_dev for place in ("/workspace", "/tmp", "/dev/shm")}
        print(json.dumps([sorted(place for place in shown if "volume" in place or "pristine" in place), len(devices)]))
        """, runs=2, jobs=2):
        assert said(seen) == [[], 3]


def test_processes_of_the_host_are_not_there() -> None:
    """Row 13, 20: kill(-1) and kill of the host's numbers reach nobody outside; /proc lists this run only."""
    for seen in attacks_with(f"""
        import json, os
        try:
            os.kill({os.getpid()}, 9)
            hit = True
        except ProcessLookupError:
            hit = False
        try:
            os.kill(-1, 9)
        except ProcessLookupError:
            pass
        print(json.dumps([hit, sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit())[0]]))
        """, runs=2, jobs=2):
        assert said(seen) == [False, 1]


def test_two_sessions_at_once_each_clean_up_their_own() -> None:
    """Row 14, 20: ending one session removes nothing of another that is still open."""
    with opened({}, "exit 8") as (session, _, _, mark):
        run = session.prepare(1)
        mine = of_session(mark)
        attack({}, "true")
        assert of_session(mark) == mine
        assert run.execute().status.returncode == 8
        run.discard()


def test_name_that_somebody_else_took_is_neither_used_nor_removed() -> None:
    """Row 14: a container of our name without our label: the run is refused, and the other's container stays."""
    with opened({}, "true") as (session, plan, _, mark):
        assert plan.image is not None
        other = engine().create_container(plan.image.id, ["true"], name=f"runner-{mark}-run-0001",
                                          labels={"io.sandbox-runner.test": "somebody-else"})
        try:
            with pytest.raises(SetupError, match="exists and is not ours"):
                session.prepare(1)
            session.close()
            assert engine().inspect_container(other["Id"])["State"]["Status"] == "created"
        finally:
            engine().remove_container(other["Id"])
