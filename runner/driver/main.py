"""The driver's straight line: read the job, start the browser while the application starts, play, write the outcome."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import traceback
from pathlib import Path
from typing import NoReturn

from runner.browser.job import JOB_FILE, read_job
from runner.browser.outcome import OUTCOME_FILE, OUTPUT_FOLDER, Outcome, write_outcome
from runner.driver.session import run_session


def main(argv: list[str]) -> int:
    """Carry out ``argv[1]/job.json`` and write ``argv[1]/out/outcome.json``. 0 once that is written, whatever it says;
    2 if there is no job to carry out, 1 if the driver itself broke.
    """
    folder = Path(argv[1] if len(argv) > 1 else "/workspace")
    out = folder / OUTPUT_FOLDER
    try:
        job = read_job((folder / JOB_FILE).read_bytes())
        out.mkdir(exist_ok=True)
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"driver: {folder / JOB_FILE} is no job: {type(error).__name__}", file=sys.stderr)
        return 2
    _be_quiet()
    try:
        _write(out, asyncio.run(run_session(job, out, lambda outcome: _leave(out, outcome))))
    except Exception as error:  # noqa: BLE001  a traceback would print what a page wrote into the error
        print(f"driver: broken: {_place_of(error)}", file=sys.__stderr__)
        return 1
    return 0


def _leave(out: Path, outcome: Outcome) -> NoReturn:
    """End with the browser still open: its server ends it when we are gone, and a container ends with its first
    process. To close it in good order would cost every run 150 ms, and a hostile page could make it take longer.
    """
    _write(out, outcome)
    os._exit(0)


def _place_of(error: Exception) -> str:
    """What kind of error, and where in our own code."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/runner/" in frame.filename]
    place = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{place}"


def _be_quiet() -> None:
    """Nothing of a page is to reach our output, by way of a log line or of Playwright's server either."""
    logging.disable(logging.CRITICAL)
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it lives as long as the process


def _write(out: Path, outcome: Outcome) -> None:
    """All of it or nothing: a reader never sees half an outcome."""
    part = out / f"{OUTCOME_FILE}.part"
    part.write_bytes(write_outcome(outcome))
    part.replace(out / OUTCOME_FILE)
