"""Whatever the workload does, it ends with its controller and with its time."""

from __future__ import annotations

import signal
from pathlib import Path

from init_harness import python, run, started

STUBBORN = "trap '' HUP INT QUIT TERM; echo ready; while :; do sleep 1000; done"


def test_the_end_of_the_leash_ends_everything(init: Path) -> None:
    with started(init, ["sh", "-c", f"setsid sh -c 'trap \"\" TERM; sleep 1000' & {STUBBORN}"]) as waiting:
        waiting.release()
        assert waiting.read_line() == b"ready\n"
        waiting.slip_leash()
        ended = waiting.finish()
    assert (ended.code, ended.trailer) == (71, None)


def test_a_held_leash_does_not_outlive_the_lifetime(init: Path) -> None:
    ended = run(init, "sh", "-c", STUBBORN, lifetime=1)
    assert (ended.code, ended.trailer) == (72, None)


def test_orphans_cannot_keep_the_init_from_its_clock(init: Path) -> None:
    ended = run(init, "sh", "-c", "while :; do (true &) ; done", lifetime=2)
    assert (ended.code, ended.trailer) == (72, None)


def test_a_stopped_main_process_does_not_outlive_the_lifetime(init: Path) -> None:
    assert run(init, "sh", "-c", "kill -STOP $$", lifetime=1).code == 72


def test_signals_from_outside_reach_the_main_process(init: Path) -> None:
    with started(init, ["sh", "-c", "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done"]) as waiting:
        waiting.release()
        assert waiting.read_line() == b"ready\n"
        waiting.signal_init(signal.SIGTERM)
        ended = waiting.finish()
    assert ended.ending == ("exited", 5)


def test_a_signal_from_outside_that_is_not_handled_is_how_it_ended(init: Path) -> None:
    with started(init, ["sh", "-c", "echo ready; exec sleep 1000"]) as waiting:
        waiting.release()
        assert waiting.read_line() == b"ready\n"
        waiting.signal_init(signal.SIGUSR2)
        ended = waiting.finish()
    assert (ended.ending, ended.code) == (("signaled", signal.SIGUSR2), 128 + signal.SIGUSR2)


def test_a_trailer_that_nobody_reads_is_bounded_by_the_lifetime(init: Path) -> None:
    fill = ("import fcntl, os\n"
            "fcntl.fcntl(2, fcntl.F_SETFL, os.O_NONBLOCK)\n"
            "try:\n"
            "    while True: os.write(2, b'x' * 512)\n"
            "except BlockingIOError: pass\n"
            "fcntl.fcntl(2, fcntl.F_SETFL, 0)\n"
            "os._exit(0)")
    with started(init, python(fill), lifetime=2) as waiting:
        waiting.release()
        assert waiting.process.wait(60) == 72
