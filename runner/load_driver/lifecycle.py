"""One run from the first hook to the last: whatever was made is removed again, however the load went."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner.load.job import HELPER, SCENARIO_FOLDER, LoadJob
from runner.load.outcome import CONSOLE_FILE, ENGINE_STDERR, ENGINE_STDOUT, METRICS_FILE, EngineRun, LoadOutcome
from runner.load_driver.client import Client
from runner.load_driver.engine import K6, Load, empty_files, run_engine, version
from runner.load_driver.environment import TooLarge, engine_environment, hook_environment
from runner.load_driver.hooks import HookRun, run_hook
from runner.load_driver.observe import observe
from runner.load_driver.owned import FixtureFailed, create, delete


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens. ``env`` is the driver's own environment; ``helper`` the runtime helper's file."""

    folder: Path
    out: Path
    env: Mapping[str, str]
    helper: Path
    k6: str = K6


@dataclass(slots=True)
class _Fixture:
    """What was made so far."""

    setup: HookRun | None = None
    teardown: HookRun | None = None
    fixture_id: str | None = None
    removed: bool = False
    failures: list[str] = field(default_factory=list)


def live(job: LoadJob, place: Place, say: Callable[[bytes], None] = lambda _: None) -> LoadOutcome:
    """Carry it out. The application answers already."""
    begun = time.monotonic()
    run_header = (("X-LiteTraffic-Run", job.run_id),)
    fixtures, looks = Client(job.pins, run_header), Client(job.pins, run_header)
    made = _Fixture()
    load = Load(EngineRun(version(place.k6)), "crashed", "k6 was not run")
    observations: tuple[dict[str, Any], ...] = ()
    empty_files(place.out)
    try:
        env = _made(job, place, fixtures, made)
        say(b"k6 started\n")
        load = run_engine(job, place.folder, place.out, env, place.k6)
        say(b"k6 ended\n")
        if load.lifecycle == "finished":
            observations = tuple(observe(looks, job, look, place.env, made.fixture_id) for look in job.observations)
    except (FixtureFailed, TooLarge) as error:
        made.failures.append(str(error))
    finally:
        _removed(job, place, fixtures, made)
    return LoadOutcome(
        "done", load.detail, load.lifecycle, engine=load.engine, fixture=_document(job, made),
        fixture_failures=tuple(made.failures), fixture_requests=len(fixtures.counted),
        fixture_writes=sum(method != "GET" for method in fixtures.counted), cleaned=_cleaned(job, made),
        observations=observations, observer_requests=len(looks.counted), dropped=load.dropped,
        elapsed_seconds=round(time.monotonic() - begun, 3),
        files=(CONSOLE_FILE, METRICS_FILE, ENGINE_STDOUT, ENGINE_STDERR))


def _made(job: LoadJob, place: Place, client: Client, made: _Fixture) -> dict[str, str]:
    """Make the fixtures; k6's environment. Raises FixtureFailed, TooLarge."""
    if job.helper:
        helper = place.folder / SCENARIO_FOLDER / HELPER
        helper.parent.mkdir(exist_ok=True)
        shutil.copyfile(place.helper, helper)
    if job.hooks is not None:
        made.setup = run_hook(job.hooks.setup, job.hooks.setup_seconds, place.folder, hook_environment(place.env, job))
        if failure := made.setup.failure("setup"):
            raise FixtureFailed(failure)
    output = made.setup.output if made.setup is not None else None
    pool = _pool(job, place, output)
    if job.owned is not None:
        made.fixture_id = create(client, job.target, job.owned, place.env)
    return engine_environment(place.env, job, fixture_id=made.fixture_id, fixture=output, pool=pool)


def _pool(job: LoadJob, place: Place, output: dict[str, Any] | None) -> list[Any] | None:
    given = output.get("pool") if output is not None else None
    if job.pool is None:
        return given if isinstance(given, list) else None
    if given is not None:
        raise FixtureFailed("setup gave a pool, and the scenario has a pool file: only one can be used")
    try:
        pool = json.loads((place.folder / SCENARIO_FOLDER / job.pool).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise FixtureFailed(f"the pool {job.pool} cannot be read") from None
    if not isinstance(pool, list):
        raise FixtureFailed(f"the pool {job.pool} is no array")
    return pool


def _removed(job: LoadJob, place: Place, client: Client, made: _Fixture) -> None:
    """Clean-up: the fixture, then the hook that was promised to whatever setup did."""
    if job.owned is not None and made.fixture_id is not None:
        try:
            delete(client, job.target, job.owned, made.fixture_id, place.env)
            made.removed = True
        except FixtureFailed as error:
            made.failures.append(str(error))
    if job.hooks is not None and made.setup is not None:
        env = hook_environment(place.env, job)
        if made.setup.output is not None:
            env["LT_FIXTURE_JSON"] = json.dumps(made.setup.output, separators=(",", ":"))
        made.teardown = run_hook(job.hooks.teardown, job.hooks.teardown_seconds, place.folder, env)
        if failure := made.teardown.failure("teardown"):
            made.failures.append(failure)


def _cleaned(job: LoadJob, made: _Fixture) -> bool | None:
    if made.fixture_id is not None:
        return made.removed
    return made.teardown.status == "passed" if job.hooks is not None and made.teardown is not None else None


def _document(job: LoadJob, made: _Fixture) -> dict[str, Any] | None:
    if job.hooks is not None:
        return {"kind": "command", "setup": made.setup.document() if made.setup else None,
                "teardown": made.teardown.document() if made.teardown else None}
    if job.owned is not None:
        return {"kind": "owned_http", "fixture_id": made.fixture_id, "created": made.fixture_id is not None,
                "removed": made.removed}
    return None
