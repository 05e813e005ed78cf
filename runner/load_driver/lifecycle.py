"""One run from the first hook to the last: whatever was made is removed again, however the load went."""

from __future__ import annotations

import shutil
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from runner.load.job import HELPER, SCENARIO_FOLDER, LoadJob
from runner.load.outcome import EngineRun, LoadOutcome
from runner.load_driver.client import Client
from runner.load_driver.engine import FILES, Load, empty_files, run_engine
from runner.load_driver.environment import TooLarge
from runner.load_driver.fixtures import Cancelled, Fixtures
from runner.load_driver.observe import observe, unknown
from runner.load_driver.owned import FixtureFailed
from runner.load_driver.place import Place
from runner.load_driver.stopping import Stop


def live(job: LoadJob, place: Place, stop: Stop, say: Callable[[bytes], None] = lambda _: None) -> LoadOutcome:
    """Carry it out. The application answers already. Never raises: a fault of our own is ``crashed``, and what was made
    is removed after it too.
    """
    begun = time.monotonic()
    headers = (("X-LiteTraffic-Run", job.run_id),)
    asking, looking = Client(job.pins, headers), Client(job.pins, headers)
    made = Fixtures(job, place, asking, stop)
    load = Load(EngineRun(), "crashed", "k6 was not run")
    outcome = LoadOutcome("done", observations=_unseen(job, "k6 was not run"))
    try:
        empty_files(place.out)
        _put_helper(job, place)
        env = made.make()
        say(b"k6 started\n")
        load = run_engine(job, place, env, stop)
        say(b"k6 ended\n")
        outcome = replace(outcome, observations=_observed(job, place, looking, made.fixture_id, load, stop))
        if stop.asked and load.lifecycle == "finished":
            load = replace(load, lifecycle="cancelled", detail="the run was ended early")
    except Cancelled:
        load = replace(load, lifecycle="cancelled", detail="the run was ended before k6 ran")
    except (FixtureFailed, TooLarge) as error:
        made.failures.append(str(error))
    except Exception as error:  # noqa: BLE001  whatever it is: what was made must be removed, and the run told of
        outcome = replace(outcome, state="crashed")
        load = replace(load, lifecycle="crashed", detail=f"the driver broke: {place_of(error)}")
    made.remove()
    return replace(
        outcome, detail=load.detail, lifecycle=load.lifecycle, engine=load.engine, fixture=made.document(),
        fixture_failures=tuple(made.failures), fixture_requests=len(asking.counted),
        fixture_writes=len(asking.counted), cleaned=made.cleaned(), observer_requests=len(looking.counted),
        dropped=load.dropped, elapsed_seconds=round(time.monotonic() - begun, 3), files=FILES)


def place_of(error: Exception) -> str:
    """What kind of error, and where in our own code; never its message, which may have anything in it."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "/runner/" in frame.filename]
    place = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{place}"


def _put_helper(job: LoadJob, place: Place) -> None:
    """Where the script imports it from. A user's folder may be read-only, and this is our copy of it."""
    if not job.helper:
        return
    scenario = place.folder / SCENARIO_FOLDER
    helper = scenario / HELPER
    scenario.chmod(scenario.stat().st_mode | 0o700)
    helper.parent.mkdir(exist_ok=True)
    helper.parent.chmod(helper.parent.stat().st_mode | 0o700)
    shutil.copyfile(place.helper, helper)


def _observed(job: LoadJob, place: Place, client: Client, fixture_id: str | None, load: Load,
              stop: Stop) -> tuple[dict[str, Any], ...]:
    """One after the other, and only after a load that came to its end."""
    if load.lifecycle != "finished":
        return _unseen(job, "k6 did not come to its end")
    return tuple(unknown(look, "the run was ended early") if stop.asked
                 else observe(client, job, look, place.env, fixture_id, stop) for look in job.observations)


def _unseen(job: LoadJob, why: str) -> tuple[dict[str, Any], ...]:
    return tuple(unknown(look, why) for look in job.observations)
