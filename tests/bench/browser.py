"""``browser``: replays of LOKI's crash sample against LOKI's own, the spread of a race's clicks, and what is left."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.loki import CRASH_SECONDS, PORT, replaying
from tests.bench.measure import Ratio, compiled, timed

DATA = Path(__file__).parents[1] / "data" / "loki"
MORE_RUNS = 4
PAIRS = 3
RACES = 10
MANY = 50
SPREAD_MS = 10.0
_PROGRAMS = frozenset({"chromium", "chrome", "node", "ffmpeg"})


def browser(folder: Path) -> Iterator[Ratio]:
    """Whole processes, from the command line to the verdict; every recorded delay is kept, 2 s of them."""
    counter = iter(range(1000))

    def replay(sample: str | Path, *words: str) -> dict[str, Any]:
        out = folder / f"run-{next(counter)}"
        done = subprocess.run([sys.executable, "-m", "runner", "replay", str(DATA / sample), "--payload", str(app),
                               "--target-command", f"python3 app.py --port {PORT}", "--yes", "--json", "--quiet",
                               "--out", str(out), *words], check=True, stdout=subprocess.PIPE, text=True,
                              env=compiled(folder))
        result: dict[str, Any] = json.loads(done.stdout)
        return result

    app = _payload(folder)
    yield from _speed(folder, app, replay)
    yield _spread(replay("race", "--runs", str(RACES)))
    yield _left(lambda: replay(_one_click(folder), "--runs", str(MANY), "--jobs", "2"))


def _payload(folder: Path) -> Path:
    (folder / "app").mkdir()
    shutil.copy(DATA / "crash" / "app.py", folder / "app")
    return folder / "app"


def _speed(folder: Path, app: Path, replay: Callable[..., dict[str, Any]]) -> Iterator[Ratio]:
    """The first run, and each next one, in turn with LOKI's replay where there is one."""
    first, more, theirs = [], [], []
    replay("crash")
    with replaying(folder, app / "app.py") as command:
        for _ in range(PAIRS):
            first.append(timed(lambda: replay("crash")))
            more.append((timed(lambda: replay("crash", "--runs", str(1 + MORE_RUNS))) - first[-1]) / MORE_RUNS)
            if command is not None:
                theirs.append(timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)))
    other = statistics.median(theirs) if theirs else CRASH_SECONDS
    yield Ratio("browser.first", statistics.median(first), other, 0.5, 0.4, PAIRS)
    yield Ratio("browser.next", statistics.median(more), other, 0.45, 0.35, PAIRS)


def _spread(result: dict[str, Any]) -> Ratio:
    """Milliseconds between the first and the last of three lanes' clicks, as the pages saw them."""
    spreads = [sample["session"]["spread_ms"] for sample in result["samples"]]
    return Ratio("browser.spread", statistics.median(spreads), SPREAD_MS, 1.0, 0.3, len(spreads))


def _one_click(folder: Path) -> Path:
    """The crash sample with its second step only."""
    incident = json.loads((DATA / "crash" / "incident.json").read_text(encoding="utf-8"))
    short = {**incident, "replay_trace": incident["replay_trace"][1:2], "crashes": [], "unhandled_rejections": []}
    (folder / "short").mkdir()
    (folder / "short" / "incident.json").write_text(json.dumps(short), encoding="utf-8")
    return folder / "short"


def _left(many: Callable[[], object]) -> Ratio:
    """Containers, volumes, networks, temporary files and processes that are there after many runs and were not
    before.
    """
    before = _everything()
    many()
    left = _everything() - before
    print(*sorted(left), sep="\n", end="\n" if left else "", file=sys.stderr)
    return Ratio("browser.left", float(len(left)), 1.0, 0.0, None, MANY)


def _everything() -> frozenset[str]:
    listings = (["ps", "-aq", "--no-trunc"], ["volume", "ls", "-q"], ["network", "ls", "-q", "--no-trunc"])
    found = {f"{words[0]} {name}" for words in listings
             for name in subprocess.run(["docker", *words], check=True, stdout=subprocess.PIPE,
                                        text=True).stdout.split()}
    found |= {str(path) for path in Path(tempfile.gettempdir()).glob("runner-job-*")}
    return frozenset(found | {f"process {name}" for name in _processes()})


def _processes() -> Iterator[str]:
    """Browsers, drivers and what they start, by process ID."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                name = Path(entry.path, "comm").read_text(encoding="utf-8", errors="replace").strip()
            except OSError:  # it has ended meanwhile
                continue
            if name in _PROGRAMS:
                yield f"{entry.name} {name}"
