"""``listing``: ``runner runs list`` of 10,000 replays against ``runner --help``: whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from runner.evidence.events import START, Event
from runner.evidence.index import Closing, Index, Opening
from tests.bench.measure import Ratio, compare

REPLAYS = 10_000


def fill(root: Path, count: int = REPLAYS) -> None:
    """A store of finished replays, one event each; without their directories, which a listing does not read."""
    with Index(root) as index:
        index.query("PRAGMA synchronous=OFF")
        for number in range(count):
            run_id = f"run_20261130_{number // 3600 % 24:02}{number // 60 % 60:02}{number % 60:02}_{number:08x}"
            event = Event(run_id, 1, "2026-11-30T12:00:00.000Z", "replay.judged", {}, START)
            moment = f"2026-11-30T12:00:00.{number % 1000:03}Z"
            opening = Opening(run_id, os.fsencode(root / "runs" / run_id), moment, "python3 check.py --fast",
                              f"/home/you/reports/{number}.json", sha256(run_id.encode()).hexdigest(), "docker", 3)
            closing = Closing(moment, "reproduced", 0, 3, 1.5, "cd" * 32, 1, event.digest(), 12345)
            index.register(opening, [event])
            index.finish(run_id, closing)


def listing(folder: Path) -> Iterator[Ratio]:
    """Printing all of them costs at most as much again as starting the program."""
    fill(folder / "store")
    environment = {**os.environ, "RUNNER_STORE": str(folder / "store")}

    def run(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "runner", *words], check=True, stdout=subprocess.DEVNULL, env=environment)

    yield compare("listing", lambda: run("runs", "list"), lambda: run("--help"), must=2.0, runs=9)
