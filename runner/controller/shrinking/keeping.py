"""The shortest trace as a run directory of its own: it is recorded once more, by which it is confirmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from runner.browser.job import Outputs
from runner.controller.line import Replayed
from runner.controller.sessions.record import record_session
from runner.controller.shrinking.candidate import Candidate
from runner.controller.shrinking.sandbox import Bench, settled_for
from runner.controller.shrinking.shrink import Keep, Kept
from runner.errors import ReportError
from runner.evidence.database import store_root
from runner.evidence.index import Index
from runner.evidence.removal import remove_run
from runner.incidents.identity import Identity, fits
from runner.incidents.model import Failure
from runner.incidents.read import read_incident

_ALL = Outputs(video=True, har=True, trace=True, screenshots=True, dom=True)


def keeper(bench: Bench, runs: int, out: Path | None, *, several: bool) -> Keep:
    """Records a candidate until it shows the failure, at most ``runs`` times and once more; the last recording stays.

    It goes into the store, or to ``out``; of ``several`` failures each gets a directory in it, named by its ID.
    """
    def keep(failure: Failure, candidate: Candidate) -> Kept:
        place = out / failure.identity.id if out is not None and several else out
        for attempt in range(runs + 1):
            done = _recorded(bench, candidate, place)
            kept = Kept(done.directory, _shows(done, failure.identity))
            if kept.shown or attempt == runs:
                break
            _remove(done)
        return kept
    return keep


def _recorded(bench: Bench, candidate: Candidate, place: Path | None) -> Replayed:
    """Raises RunnerError when nothing was recorded."""
    incident = bench.settled.incident
    assert incident is not None
    settled = settled_for(bench.settled, candidate)
    racing = settled.job.race is not None
    settled = replace(settled, job=replace(settled.job, outputs=replace(_ALL, video=not racing, har=not racing)))
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
    done = record_session(settled, out=place, backend=bench.backend, shrunk_from=incident.sha256)
    if done.fault is not None:
        raise done.fault
    return done


def _shows(done: Replayed, wanted: Identity) -> bool:
    try:
        recorded = read_incident(done.directory)
    except ReportError:
        return False
    return any(fits(wanted, failure.identity) for failure in recorded.failures)


def _remove(done: Replayed) -> None:
    with Index(store_root()) as index:
        for row in index.rows("run_id = ?", (done.result.run_id,)):
            remove_run(index, row)
