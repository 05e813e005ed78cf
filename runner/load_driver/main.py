"""The load driver's straight line: read the job, wait for the application, live through it, write the outcome."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runner.load.job import JOB_FILE, LoadJob, read_job
from runner.load.outcome import (
    LAUNCHED_LINE,
    OUTCOME_FILE,
    OUTPUT_FOLDER,
    READY_LINE,
    LoadOutcome,
    write_outcome,
)
from runner.load_driver.client import Client
from runner.load_driver.lifecycle import Place, live
from runner.load_driver.waiting import NotReady, wait_ready

HELPER = "/opt/runner/driver/runtime.js"


def main(argv: list[str]) -> int:
    """Carry out ``argv[1]/job.json`` and write ``argv[1]/out/outcome.json``. 0 once that is written, whatever it says;
    2 if there is no job to carry out.
    """
    folder = Path(argv[1] if len(argv) > 1 else "/workspace")
    out = folder / OUTPUT_FOLDER
    try:
        job = read_job((folder / JOB_FILE).read_bytes())
        out.mkdir(exist_ok=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"driver: {folder / JOB_FILE} is no job: {type(error).__name__}", file=sys.stderr)
        return 2
    place = Place(folder, out, dict(os.environ), Path(os.environ.get("RUNNER_HELPER", HELPER)),
                  os.environ.get("RUNNER_K6", "/usr/bin/k6"))
    _write(out, carry_out(job, place))
    return 0


def carry_out(job: LoadJob, place: Place) -> LoadOutcome:
    """Wait for the application, then run."""
    _say(LAUNCHED_LINE)
    try:
        wait_ready(job, Client(job.pins))
    except NotReady as error:
        return LoadOutcome("not_ready", str(error))
    _say(READY_LINE)
    return live(job, place, _say)


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _write(out: Path, outcome: LoadOutcome) -> None:
    """All of it or nothing: a reader never sees half an outcome."""
    part = out / f"{OUTCOME_FILE}.part"
    part.write_bytes(write_outcome(outcome))
    part.replace(out / OUTCOME_FILE)
