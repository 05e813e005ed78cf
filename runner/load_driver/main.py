"""The load driver's straight line: read the job, wait for the application, live through it, write the outcome."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from runner.load.job import JOB_FILE, LoadJob, read_job
from runner.load.outcome import LAUNCHED_LINE, OUTPUT_FOLDER, READY_LINE, LoadOutcome
from runner.load_driver.engine import version
from runner.load_driver.guard import close_to_others
from runner.load_driver.leaving import Leaving
from runner.load_driver.lifecycle import live
from runner.load_driver.place import Place
from runner.load_driver.stopping import Stop
from runner.load_driver.waiting import NotReady, wait_ready


def main(argv: list[str]) -> int:
    """Carry out ``argv[1]/job.json`` and write ``argv[1]/out/outcome.json``. 0 once that is written, whatever it says;
    2 if there is no job to carry out, 1 if the outcome cannot be written.
    """
    stop = Stop()
    stop.listen()
    close_to_others()
    folder = Path(argv[1] if len(argv) > 1 else "/workspace")
    out = folder / OUTPUT_FOLDER
    try:
        job = read_job((folder / JOB_FILE).read_bytes())
        out.mkdir(exist_ok=True)
        leaving = Leaving(out)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"driver: {folder / JOB_FILE} is no job: {type(error).__name__}", file=sys.stderr)
        return 2
    try:
        leaving.leave(carry_out(job, Place(folder, out, dict(os.environ)), stop))
    except OSError as error:
        print(f"driver: the outcome cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def carry_out(job: LoadJob, place: Place, stop: Stop) -> LoadOutcome:
    """Wait for the application, then run."""
    say(LAUNCHED_LINE)
    with ThreadPoolExecutor(1) as beside:  # k6 takes a tenth of a second to say its version, and nobody waits for that
        engine = beside.submit(version, place.k6)
        try:
            wait_ready(job, stop)
        except NotReady as error:
            return LoadOutcome("not_ready", str(error), "cancelled" if stop.asked else "crashed")
        say(READY_LINE)
        outcome = live(job, place, stop, say)
        if outcome.engine is None:
            return outcome
        return replace(outcome, engine=replace(outcome.engine, version=engine.result()))


def say(line: bytes) -> None:
    """A line on stdout, at once."""
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
