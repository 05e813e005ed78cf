"""The driver's payload: the job and a copy of the scenario. It is read when it is put, and stays until the run is over.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.controller.bounds import seal_limits
from runner.controller.loads.places import denied
from runner.controller.loads.request import SettledLoad
from runner.errors import PayloadRefused
from runner.load.job import JOB_FILE, SCENARIO_FOLDER, Caps, LoadJob, write_job
from runner.payload.seal import SealedPayload, seal

_CONSOLE = 16 << 20
_OTHERS = 4 << 20
"""Bytes of the outcome and of what k6 prints itself, in what the policy lets be taken out of the volume."""


@contextmanager
def staged(settled: SettledLoad, run_id: str, names: tuple[str, ...]) -> Iterator[SealedPayload]:
    """Seal both. ``names`` are the variables that the driver hands on. Raises PayloadRefused."""
    limits = seal_limits(settled.driver_policy)
    with TemporaryDirectory(prefix="runner-job-") as folder:
        source = seal(settled.scenario.directory, limits)
        _copy(settled.scenario.directory, Path(folder, SCENARIO_FOLDER))
        Path(folder, JOB_FILE).write_bytes(write_job(job_of(settled, run_id, names)))
        sealed = seal(folder, limits)
        copied = seal(Path(folder, SCENARIO_FOLDER), limits)
        if copied.fingerprint.content != source.fingerprint.content:
            raise PayloadRefused("the scenario changed while it was read", rule="changed", path=b"",
                                 hint="nothing may write to the scenario's directory meanwhile")
        yield sealed


def job_of(settled: SettledLoad, run_id: str, names: tuple[str, ...]) -> LoadJob:
    """What the driver is to do."""
    scenario = settled.scenario
    budget = scenario.budgets.max_artifact_bytes + (1 << 20)
    room = settled.driver_policy.output.artifacts - _CONSOLE - _OTHERS
    return LoadJob(
        run_id=run_id, target=settled.target, seed=scenario.seed, script=scenario.script, schedule=scenario.schedule,
        planned_journeys=scenario.planned_journeys, max_in_flight=scenario.budgets.max_in_flight,
        engine_seconds=scenario.engine_seconds, helper=scenario.helper, ready=settled.ready,
        hold=settled.command is not None, owned=scenario.owned, hooks=scenario.hooks, pool=scenario.pool,
        observations=scenario.observations, listed=scenario.listed, allowed_origins=scenario.allowed_origins,
        allowed_origins_env=scenario.allowed_origins_env, env_names=names,
        pins=tuple((place.host, place.port, place.address) for place in settled.places),
        denied=denied(settled.places) if settled.places else (),
        caps=Caps(console=min(budget, _CONSOLE), metrics=min(budget, room)))


def _copy(source: Path, target: Path) -> None:
    """Files and directories as they are; links stay links, and sealing has refused those that lead out."""
    shutil.copytree(os.path.realpath(source), target, symlinks=True)
