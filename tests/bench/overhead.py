"""``overhead`` and ``flood``: a replay with everything on, against ``docker run`` of the same image."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from runner.controller.record import RecordRequest, record
from runner.controller.replay import replay
from runner.controller.settle import ReplayRequest, settle
from runner.controller.write import write_report
from runner.workloads.command import CommandWorkload
from tests.bench.measure import Ratio, compare
from tests.bench.payloads import small

FLOOD_BYTES = 1 << 30
FLOOD_MEMORY = 150 << 20


def _report(folder: Path, payload: Path, argv: tuple[str, ...]) -> tuple[Path, str]:
    """A recorded report, and the ID of its image."""
    recording = record(RecordRequest(payload=str(payload), workload=CommandWorkload(argv=argv), runs=1))
    path = folder / "report.json"
    write_report(recording, "native", path)
    assert recording.image is not None
    return path, recording.image.id


def overhead(folder: Path) -> Iterator[Ratio]:
    """Per run, in sequence and four at a time; and a single run with its steward."""
    payload = small(folder / "payload")
    report, image = _report(folder, payload, ("sh", "-c", "echo no >&2; exit 3"))
    counter = iter(range(1_000_000))

    def ours(runs: int, jobs: int) -> None:
        request = ReplayRequest(str(report), str(payload), runs=runs, jobs=jobs)
        done = replay(settle(request), out=folder / f"run-{next(counter)}")
        assert done.result.reproduced, done.result.reasons

    def theirs() -> None:
        subprocess.run(["docker", "run", "--rm", "--network", "none", image, "true"], check=True)

    def theirs_five() -> None:
        for _ in range(5):
            theirs()

    yield compare("overhead.sequence", lambda: ours(20, 1), theirs_five, must=0.9, aim=0.65, per=20, per_theirs=5)
    yield compare("overhead.jobs4", lambda: ours(20, 4), theirs_five, must=0.7, aim=0.5, per=20, per_theirs=5)
    yield compare("overhead.single", lambda: ours(1, 1), theirs, must=1.9, aim=1.4, runs=9)


def flood(folder: Path) -> Iterator[Ratio]:
    """1 GiB of output under a cap of 2 GiB: time against ``docker run``, and the controller's memory."""
    payload = small(folder / "payload")
    policy = folder / "flood.yaml"
    policy.write_text(_flood_policy(), encoding="utf-8")
    command = f"head -c {FLOOD_BYTES} /dev/zero; exit 3"
    recording = record(RecordRequest(payload=str(payload), workload=CommandWorkload(shell=command), runs=1,
                                     policy=str(policy), exit_code=3))
    report = folder / "report.json"
    write_report(recording, "native", report)
    assert recording.image is not None
    image = recording.image.id
    counter = iter(range(1000))

    def words() -> list[str]:
        out = folder / f"run-{next(counter)}"
        return [sys.executable, "-m", "runner", "replay", str(report), "--payload", str(payload), "--yes",
                "--policy", str(policy), "--out", str(out), "--quiet"]

    def ours() -> None:
        subprocess.run(words(), check=True, stdout=subprocess.DEVNULL)

    def theirs() -> None:
        subprocess.run(["docker", "run", "--rm", "--network", "none", "--log-driver", "none", image, "sh", "-c",
                        f"head -c {FLOOD_BYTES} /dev/zero"], check=True, stdout=subprocess.DEVNULL)

    yield compare("flood.time", ours, theirs, must=1.5, runs=3)
    yield Ratio("flood.memory", float(_peak_memory(words())), float(FLOOD_MEMORY), 1.0, None, 1)


def _peak_memory(words: list[str]) -> int:
    """Bytes. Asked from a small process of its own: a child starts with its parent's peak."""
    measure = ("import resource, subprocess, sys\n"
               "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", measure, *words], check=True, stdout=subprocess.PIPE, text=True)
    return int(done.stdout) * 1024


def _flood_policy() -> str:
    default = (Path(__file__).parents[2] / "policies" / "default.yaml").read_text(encoding="utf-8")
    return default.replace("name: default", "name: flood").replace("stdout: 64MiB", "stdout: 2GiB")
