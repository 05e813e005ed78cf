"""Load scenarios from Python: what the commands `verify`, `diff`, `doctor` and `runs list` do, with values instead of
text. Every function raises the typed errors of :mod:`runner.errors`, with the exit codes of their table.

::

    from runner.api import Application, verify

    application = Application(payload="app", command="python3 server.py", url="http://127.0.0.1:8000")
    run = verify("scenario", application)
    if run.result.verdict != "pass":
        print(run.result.reasons, run.directory)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from runner.controller.doctor import examine as run_doctor
from runner.controller.line import Replayed
from runner.controller.loads.perform import verify_scenario
from runner.controller.loads.recorded import read_recorded
from runner.controller.loads.request import LoadRequest, settle_load
from runner.controller.loads.series import Series, repeat_scenario
from runner.controller.sessions.request import Application
from runner.evidence.database import store_root
from runner.evidence.index import Index, Row
from runner.reports.loads.compare import Comparison, compare_loads
from runner.reports.loads.runs import read_load_run
from runner.scenarios.load import load_scenario

Place = str | os.PathLike[str]

__all__ = ["Application", "compare_runs", "list_runs", "load_scenario", "repeat_verify", "run_doctor", "verify"]


def verify(scenario: Place, application: Application, *, seed: int = 0, env: Mapping[str, str] | None = None,
           policy: str | None = None, out: Path | None = None, recorded: Place | None = None) -> Replayed:
    """Run a scenario once; the evidence and where it was put. ``env`` are the scenario's variables. An application
    without a ``command`` runs at its ``url`` already, outside the sandbox. What differs from the run in the directory
    ``recorded`` is the result's ``drift``.

    Raises InputError and its kinds for a scenario or a request that breaks a rule, SetupError and its kinds where the
    engine or an image is missing. A fault in the middle is in the result, with exit code 2.
    """
    request = _request(scenario, application, seed, env, policy)
    if recorded is not None:
        request = replace(request, recorded=read_recorded(recorded))
    return verify_scenario(settle_load(request), out=out)


def repeat_verify(scenario: Place, application: Application, runs: int, *, seed: int = 0, same_seed: bool = False,
                  env: Mapping[str, str] | None = None, policy: str | None = None, out: Path | None = None) -> Series:
    """Run it several times, with seeds counting up from ``seed``. Raises as :func:`verify`."""
    return repeat_scenario(_request(scenario, application, seed, env, policy), runs, same_seed=same_seed, out=out)


def compare_runs(baseline: Place, candidate: Place, *, max_p95_regression_percent: float | None = None) -> Comparison:
    """Two run directories, ours or LiteTraffic's. Raises UsageError for what is none, EvidenceAltered."""
    return compare_loads(read_load_run(baseline), read_load_run(candidate), max_p95_regression_percent)


def list_runs(store: Place | None = None) -> list[Row]:
    """What the store knows of its runs, newest first. Raises UsageError for a store that cannot be read."""
    with Index(Path(store) if store is not None else store_root()) as index:
        return index.rows()


def _request(scenario: Place, application: Application, seed: int, env: Mapping[str, str] | None,
             policy: str | None) -> LoadRequest:
    pairs = tuple(f"{name}={value}" for name, value in (env or {}).items())
    return LoadRequest(os.fspath(scenario), application, seed=seed, env=pairs, policy=policy)
