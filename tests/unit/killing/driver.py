"""Started with killing.so preloaded: does one thing to a store in a child, killed at its k-th write, for every k; and
looks, after each, whether the store has kept what it confirmed. Prints how many kills there were.

Usage: ``driver.py SCENARIO PLACE``.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from stored_runs import FACTS, FAILS, IMAGE, PASSES, make_evidence

from runner.controller.line import Progress
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.evidence.database import MIGRATIONS, open_database
from runner.evidence.events import read_events
from runner.evidence.index import Index, Row
from runner.evidence.known import Finished, load
from runner.evidence.leftovers import partial_of
from runner.evidence.recovery import reconcile
from runner.evidence.removal import finish_removals, remove_run
from runner.sandbox.backends.fake import FakeBackend

LIBRARY = ctypes.CDLL(None)
RUNS = (FAILS, replace(PASSES, artifacts=FAILS.artifacts))


@dataclass(frozen=True)
class Scenario:
    """``prepare`` makes a store, ``act`` is done to a copy of it and killed, ``check`` looks at what is left."""

    prepare: Callable[[Path], None]
    act: Callable[[Path, Callable[[str], None]], None]
    check: Callable[[Path, list[str]], None]


def kill_at_every_write(scenario: Scenario, place: Path) -> int:
    """Both before and within each write, until one comes through alive; the number of kills."""
    template, kills = place / "template", 0
    os.environ["RUNNER_STORE"] = str(place / "copy" / "store")
    (place / "copy").mkdir()
    scenario.prepare(place / "copy")
    (place / "copy").rename(template)
    for half in (0, 1):
        for k in range(1, 10_000):
            shutil.copytree(template, place / "copy", symlinks=True)
            told, survived = in_child(lambda tell: scenario.act(place / "copy", tell), k, half)
            scenario.check(place / "copy", told)
            shutil.rmtree(place / "copy")
            if survived:
                break
            kills += 1
        else:
            raise AssertionError("no end of writes")
    return kills


def in_child(act: Callable[[Callable[[str], None]], None], k: int, half: int) -> tuple[list[str], bool]:
    """What the child told before it was killed, and whether it was not."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            LIBRARY.killing_arm(ctypes.c_long(k), half, writing)
            act(lambda text: os.write(writing, f"{text}\n".encode()) and None)
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read().split()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), f"the child ended with {code} at write {k}"
    return told, code == 0


def replaying(place: Path, tell: Callable[[str], None]) -> None:
    """A real replay, over a fake backend; it tells what it would tell a person."""
    case = place.parent / "case"
    request = ReplayRequest(report=str(case / "report.json"), payload=str(case / "ledger"), runs=len(RUNS))
    done = replay(settle(request), progress=Progress(lambda run: tell(f"judged-{run.observation.index}")),
                  backend=FakeBackend(RUNS, facts=FACTS, image=IMAGE))
    tell(f"done-{done.result.verdict}")


def check_replay(place: Path, told: list[str]) -> None:
    """All that was told is there; what is there is whole, or says that it is not."""
    store = place / "store"
    with Index(store) as index:  # it opens, whatever happened
        reconcile(index)
        finish_removals(index)
        rows = index.rows()
        assert len(rows) == 1 or not told
        for row in rows:
            check_row(index, row, told)
        shown = {path.name for path in (store / "runs").glob("run_*")} if rows else set()
        assert shown == {row.run_id for row in rows if row.state == "finished"}
        assert index.query("PRAGMA integrity_check") == [("ok",)]
    replaying(place, lambda _: None)  # and is of use
    with Index(store) as index:
        assert len(index.rows("state = 'finished'")) == 1 + len([row for row in rows if row.state == "finished"])


def check_row(index: Index, row: Row, told: list[str]) -> None:
    """One replay against what it told before it died."""
    assert row.state in ("finished", "killed"), row.state
    assert row.state == "finished" or not any(text.startswith("done") for text in told), told
    if row.state == "finished":
        found = load(index, row.run_id)
        assert isinstance(found, Finished)
        assert found.evidence.result.verdict == "not_reproduced"
    events = read_events(b"".join(line + b"\n" for line in index.lines(row.run_id)), row.run_id)
    assert row.state == "finished" or events[-1].kind != "replay.judged", "a confirmed verdict was not completed"
    confirmed = [event.data for event in events if event.kind == "run.judged"]
    assert len(confirmed) >= sum(text.startswith("judged") for text in told), (told, confirmed)
    folder = row.path if row.state == "finished" else partial_of(row.path, row.run_id)
    for run in confirmed:
        for stream in (run["stdout"], run["stderr"]):
            assert stream["file"] is None or digest(folder / stream["file"]) == stream["kept_sha256"]
        assert all(digest(folder / item["file"]) == item["sha256"] for item in run["artifacts"])


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return sha256(path.read_bytes()).hexdigest()


def with_runs(place: Path, count: int) -> None:
    """A store with finished replays."""
    make_evidence(place.parent / "case", RUNS)
    shutil.rmtree(place / "store", ignore_errors=True)
    for _ in range(count):
        replaying(place, lambda _: None)


def removing(place: Path, tell: Callable[[str], None]) -> None:
    """The newest of them goes."""
    with Index(place / "store") as index:
        row = index.rows()[0]
        remove_run(index, row)
        tell(row.run_id)


def check_removed(place: Path, told: list[str]) -> None:
    """A run is there as a whole, or gone as a whole; its neighbours are untouched."""
    with Index(place / "store") as index:
        reconcile(index)
        finish_removals(index)
        rows = index.rows()
        assert len(rows) in (2, 3)
        assert len(rows) == 2 or not told
        assert {path.name for path in (place / "store" / "runs").iterdir()} == {row.run_id for row in rows}
        for row in rows:
            assert isinstance(load(index, row.run_id), Finished)
        assert len(index.query("SELECT * FROM removals WHERE files_gone = 1")) == 3 - len(rows)


def old_store(place: Path) -> None:
    """A store as the first schema has it."""
    make_evidence(place.parent / "case", RUNS)
    shutil.rmtree(place / "store", ignore_errors=True)
    open_database(place / "store", MIGRATIONS[:1]).close()


def migrating(place: Path, _: Callable[[str], None]) -> None:
    """Opening brings it up to date."""
    open_database(place / "store").close()


def half_finished(place: Path) -> None:
    """A replay that was killed when all was confirmed and nothing was in its place yet."""
    with_runs(place, 0)
    for k in range(1, 10_000):
        shutil.rmtree(place / "store", ignore_errors=True)
        in_child(lambda tell: replaying(place, tell), k, 0)
        with Index(place / "store") as index:
            row, *_ = index.rows() or [None]
            kinds = index.query("SELECT kind FROM events ORDER BY seq DESC LIMIT 1")
        if row is not None and row.state == "running" and kinds == [("replay.judged",)]:
            return


def repairing(place: Path, tell: Callable[[str], None]) -> None:
    """What every start does first."""
    with Index(place / "store") as index:
        reconcile(index)
    tell("done-not_reproduced")


SCENARIOS = {
    "replaying": Scenario(lambda place: with_runs(place, 0), replaying, check_replay),
    "removing": Scenario(lambda place: with_runs(place, 3), removing, check_removed),
    "migrating": Scenario(old_store, migrating, check_replay),
    "repairing": Scenario(half_finished, repairing, check_replay),
}


if __name__ == "__main__":
    print(kill_at_every_write(SCENARIOS[sys.argv[1]], Path(sys.argv[2])))
