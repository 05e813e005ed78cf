"""What a run makes before the load and removes after it: hooks, the pool, a fixture of the application's own."""

from __future__ import annotations

from typing import Any

from runner.load.job import SCENARIO_FOLDER, Hooks, LoadJob, OwnedHttp
from runner.load.strictjson import parsed
from runner.load_driver.client import Client
from runner.load_driver.environment import engine_environment, hook_environment
from runner.load_driver.hooks import HookRun, run_hook
from runner.load_driver.owned import FixtureFailed, create, delete
from runner.load_driver.place import Place
from runner.load_driver.processes import end_group
from runner.load_driver.stopping import Stop


class Cancelled(Exception):
    """The run's end was asked for before the load."""


class Fixtures:
    """Those of one run. ``failures`` are sentences: one for each that could not be made or removed."""

    def __init__(self, job: LoadJob, place: Place, client: Client, stop: Stop) -> None:
        self.failures: list[str] = []
        self.fixture_id: str | None = None
        self._job, self._place, self._client, self._stop = job, place, client, stop
        self._setup: HookRun | None = None
        self._document: dict[str, Any] = {}
        self._gone: list[bool] = []
        """Of each thing that was made, or may have been: whether it is gone."""

    def make(self) -> dict[str, str]:
        """Make them; k6's environment. Raises FixtureFailed, TooLarge, Cancelled."""
        job = self._job
        told = self._set_up()
        pool = self._pool(told)
        if job.owned is not None and not self._stop.asked:
            self._create(job)
        if self._stop.asked:
            raise Cancelled
        return engine_environment(self._place.env, job, fixture_id=self.fixture_id, fixture=told, pool=pool)

    def remove(self) -> None:
        """Remove what was made; a wish to end early is no reason not to."""
        if self._job.owned is not None and self.fixture_id is not None:
            self._delete(self._job.owned, self.fixture_id)
        if self._job.hooks is not None and self._setup is not None:
            self._tear_down(self._job.hooks, self._setup)

    def document(self) -> dict[str, Any] | None:
        """As ``fixture.json`` has it."""
        return self._document or None

    def cleaned(self) -> bool | None:
        """Whether all that was made is gone; ``None`` if nothing was made."""
        return all(self._gone) if self._gone else None

    def _set_up(self) -> str | None:
        hooks = self._job.hooks
        if hooks is None or self._stop.asked:
            return None
        self._setup = run_hook("setup", hooks.setup, hooks.setup_seconds, self._place.folder,
                               hook_environment(self._place.env, self._job), self._stop, leave=True)
        self._document["setup"] = self._setup.document()
        if self._setup.status == "error":
            raise FixtureFailed(self._setup.reason)
        return self._setup.told

    def _tear_down(self, hooks: Hooks, setup: HookRun) -> None:
        done = run_hook("teardown", hooks.teardown, hooks.teardown_seconds, self._place.folder,
                        hook_environment(self._place.env, self._job, setup.told))
        self._document["teardown"] = done.document()
        self._gone.append(done.status == "ok")
        if done.reason:
            self.failures.append(done.reason)
        if setup.group is not None and not end_group(setup.group):
            self.failures.append("setup left processes that cannot be ended")
            self._gone.append(False)

    def _delete(self, owned: OwnedHttp, fixture_id: str) -> None:
        sent = len(self._client.counted)
        try:
            delete(self._client, self._job.target, owned, fixture_id, self._place.env)
            entry: dict[str, Any] = {"status": "deleted"}
        except FixtureFailed as error:
            self.failures.append(str(error))
            entry = {"status": "error", "reason": str(error)}
        self._document["cleanup"] = {**entry, "requests": len(self._client.counted) - sent}
        self._gone.append(entry["status"] == "deleted")

    def _create(self, job: LoadJob) -> None:
        assert job.owned is not None
        sent = len(self._client.counted)
        try:
            self.fixture_id = create(self._client, job.target, job.owned, self._place.env)
            entry: dict[str, Any] = {"status": "created", "fixture_id": self.fixture_id}
        except FixtureFailed as error:
            entry = {"status": "error", "reason": str(error)}
            if error.left:
                self._gone.append(False)
            raise
        finally:
            self._document["create"] = {**entry, "requests": len(self._client.counted) - sent}

    def _pool(self, told: str | None) -> list[Any] | None:
        """The pool's file, or what setup told. Raises FixtureFailed: both, too short, or no array."""
        given = parsed(told).get("pool") if told is not None else None
        name = self._job.pool
        if name is not None:
            if given is not None:
                raise FixtureFailed("setup gave a pool, and the scenario has a pool file: only one can be used")
            try:
                given = parsed((self._place.folder / SCENARIO_FOLDER / name).read_bytes())
            except (OSError, ValueError):
                raise FixtureFailed(f"the pool {name} cannot be read") from None
        if given is None:
            return None
        if not isinstance(given, list) or len(given) < self._job.planned_journeys:
            raise FixtureFailed(f"the pool is no array of {self._job.planned_journeys} items or more")
        return given
