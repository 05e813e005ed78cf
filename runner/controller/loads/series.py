"""A scenario several times over, with seeds counting up or the same one: how much do verdicts and figures vary?"""

from __future__ import annotations

import json
import secrets
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runner.controller.line import UNWATCHED, Progress, Replayed
from runner.controller.loads.perform import verify_scenario
from runner.controller.loads.request import LoadRequest, settle_load
from runner.errors import ExitCode, UsageError
from runner.evidence.database import store_root
from runner.evidence.files import write_atomically
from runner.evidence.result import Result
from runner.sandbox.backends.base import PairBackend

MOST = 1000
_WORST = ("fail", "error", "no_verdict", "inconclusive", "pass")
"""As a single run's: a proven failure is not hidden by an error elsewhere."""


@dataclass(frozen=True, slots=True)
class Series:
    """The runs, in order, and the document of ``series_ID.json``, whose names are LiteTraffic's."""

    runs: tuple[Replayed, ...]
    document: dict[str, Any]
    file: Path

    @property
    def exit_code(self) -> ExitCode:
        """Of the worst run."""
        return max((ExitCode(run.result.exit_code) for run in self.runs if run.result.verdict == self.verdict),
                   default=ExitCode.NOTHING_JUDGED)

    @property
    def verdict(self) -> str:
        """The worst of the runs'."""
        return str(self.document["verdict"])


def repeat_scenario(request: LoadRequest, times: int, *, same_seed: bool = False, out: Path | None = None,
                    progress: Progress = UNWATCHED, backend: PairBackend | None = None,
                    finished: Callable[[Replayed], None] = lambda _: None) -> Series:
    """Run it ``times`` times, each in a fresh sandbox and in a run directory of its own; ``finished`` gets each run as
    it ends. All is settled before the first one starts. Raises as :func:`verify_scenario`.
    """
    if not 1 <= times <= MOST:
        raise UsageError(f"--repeat {times}: expected 1 to {MOST}")
    name = f"series_{datetime.now(UTC):%Y%m%d_%H%M%S}_{secrets.token_hex(4)}"
    settled = [settle_load(replace(request, series=name, seed=request.seed + (0 if same_seed else index)))
               for index in range(times)]
    runs: list[Replayed] = []
    for index, one in enumerate(settled, 1):
        place = None if out is None else out / f"run-{index}"
        runs.append(verify_scenario(one, out=place, progress=progress, backend=backend))
        finished(runs[-1])
        if runs[-1].fault is not None:
            break  # the machinery's fault is the next run's, too
    document = series_document(name, request.seed, times, [run.result for run in runs], same_seed=same_seed)
    file = (out if out is not None else store_root() / "runs") / f"{name}.json"
    write_atomically(file, (json.dumps(document, indent=2, sort_keys=True) + "\n").encode())
    return Series(tuple(runs), document, file)


def series_document(name: str, seed: int, requested: int, runs: list[Result], *, same_seed: bool) -> dict[str, Any]:
    """What a series comes to. Pure."""
    verdicts = [result.verdict for result in runs]
    figures = {"p95_ms": [_figure(run, "http_req_duration_ms", "p95") for run in runs],
               "http_req_failed_rate": [_figure(run, "http_req_failed_rate", "rate") for run in runs],
               "http_reqs_per_second": [_figure(run, "http_reqs_per_second") for run in runs]}
    return {
        "schema_version": 1, "series_id": name, "mode": "repeat", "starting_seed": seed, "same_seed": same_seed,
        "requested_runs": requested, "completed_runs": len(runs),
        "lifecycle": "finished" if len(runs) == requested else "cancelled",
        "verdict": next((word for word in _WORST if word in verdicts), "error"),
        "consistent": len({(run.verdict, run.lifecycle) for run in runs}) == 1,
        "dispersion": {name: _dispersion(values) for name, values in figures.items()},
        "runs": [run.run_id for run in runs],
        "result": [{"run_id": run.run_id, "seed": run.seed, "verdict": run.verdict, "lifecycle": run.lifecycle}
                   for run in runs]}


def _figure(result: Result, *path: str) -> float | None:
    found: Any = result.metrics
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) else None


def _dispersion(values: Iterable[float | None]) -> dict[str, float | None] | None:
    known = [value for value in values if value is not None]
    if not known:
        return None
    return {"min": min(known), "max": max(known), "mean": round(statistics.fmean(known), 6),
            "stdev": round(statistics.stdev(known), 6) if len(known) > 1 else None}
