"""Many processes on one store: nothing is lost, nothing is mixed up, the dead are told from the living."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openings import RUN, WHOLE, chain, closing, opening

from runner.evidence.database import MIGRATIONS, open_database
from runner.evidence.events import read_events
from runner.evidence.index import Index
from runner.evidence.leftovers import hold, partial_of
from runner.evidence.recovery import reconcile, sweep_known
from runner.evidence.removal import remove_run

WRITERS, REPLAYS, RUNS = 8, 4, 5
SPAWN = multiprocessing.get_context("spawn")


def together(action: Callable[..., None], arguments: list[tuple[Any, ...]]) -> list[int]:
    """Run processes at once, from a common start; their exit codes."""
    barrier = SPAWN.Barrier(len(arguments))
    processes = [SPAWN.Process(target=action, args=(barrier, *each)) for each in arguments]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode or 0 for process in processes]


def write_replays(barrier: Any, root: Path, writer: int) -> None:
    """A controller's part, several times over."""
    barrier.wait()
    for number in range(REPLAYS):
        run_id = f"run_20261130_120000_{writer:04x}{number:04x}"
        events = chain(run_id, *WHOLE[:2], *["run.judged"] * RUNS, WHOLE[-1])
        with Index(root) as index:
            reconcile(index)
            partial = partial_of(root / "runs" / run_id, run_id)
            partial.mkdir(parents=True)
            held = hold(partial)
            index.register(opening(root / "runs" / run_id, run_id), events[:2])
            for event in events[2:]:
                index.append(event)
            index.finish(run_id, closing(events))
            os.close(held)


def open_at_once(barrier: Any, root: Path) -> None:
    barrier.wait()
    with Index(root) as index:
        assert index.rows() == []


def test_eight_controllers_at_once_lose_nothing(tmp_path: Path) -> None:
    root = tmp_path / "store"
    assert together(write_replays, [(root, writer) for writer in range(WRITERS)]) == [0] * WRITERS
    with Index(root) as index:
        rows = index.rows()
        assert len({row.run_id for row in rows}) == WRITERS * REPLAYS
        assert {row.state for row in rows} == {"finished"}
        for row in rows:
            lines = index.lines(row.run_id)
            events = read_events(b"".join(line + b"\n" for line in lines), row.run_id)
            assert (len(events), events[-1].digest()) == (row.events_count, row.events_head)
        assert index.query("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("version", [None, *range(len(MIGRATIONS))])
def test_a_store_that_all_open_at_once_is_made_or_migrated_once(tmp_path: Path, version: int | None) -> None:
    root = tmp_path / "store"
    if version is not None:
        open_database(root, MIGRATIONS[:version]).close()
    assert together(open_at_once, [(root,)] * WRITERS) == [0] * WRITERS
    with Index(root) as index:
        assert index.query("SELECT count(*) FROM migrations") == [(len(MIGRATIONS),)]


def die_after_a_confirmed_run(barrier: Any, root: Path, run_id: str) -> None:
    barrier.wait()
    index = Index(root)
    partial = partial_of(root / "runs" / run_id, run_id)
    partial.mkdir(parents=True)
    hold(partial)
    events = chain(run_id, *WHOLE)
    index.register(opening(root / "runs" / run_id, run_id), events[:2])
    index.append(events[2])
    (partial / "events.jsonl").write_bytes(b"".join(event.line() + b"\n" for event in events[:3]))
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_killed_among_others_is_called_killed_and_keeps_what_was_confirmed(tmp_path: Path) -> None:
    root, dead = tmp_path / "store", [f"run_20261130_130000_{number:08x}" for number in range(4)]
    assert together(die_after_a_confirmed_run, [(root, run_id) for run_id in dead]) == [-signal.SIGKILL] * 4
    with Index(root) as index:
        assert [row.state for row in index.rows()] == ["running"] * 4
        reconcile(index)
        assert [row.state for row in index.rows()] == ["killed"] * 4
        assert sweep_known(index, grace=-1) == ()
        for row in index.rows():
            assert len(index.lines(row.run_id)) == 3
            assert partial_of(row.path, row.run_id).is_dir()
            remove_run(index, row)
        assert list((root / "runs").iterdir()) == []


def test_the_living_are_left_alone_by_either_name(tmp_path: Path) -> None:
    """Also in the moment between the rename and the index."""
    with Index(tmp_path / "store") as index:
        place = tmp_path / "runs" / RUN
        partial = partial_of(place, RUN)
        partial.mkdir(parents=True)
        held = hold(partial)
        index.register(opening(place), chain())
        reconcile(index)
        assert index.rows()[0].state == "running"
        partial.rename(place)
        reconcile(index)
        assert index.rows()[0].state == "running"
        os.close(held)
        reconcile(index)
        assert index.rows()[0].state == "killed"


def test_a_replay_whose_directory_is_gone_is_called_killed(tmp_path: Path) -> None:
    with Index(tmp_path / "store") as index:
        index.register(opening(tmp_path / "nowhere" / RUN), chain())
        reconcile(index)
        assert [(row.run_id, row.state) for row in index.rows()] == [(RUN, "killed")]
