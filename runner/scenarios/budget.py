"""What a run can take at most, against its budgets; before anything starts."""

from __future__ import annotations

import math

from runner.errors import InputError
from runner.scenarios.manifest import Manifest, ObservationModel
from runner.scenarios.model import Maxima

_START_AND_DRAIN, _OWNED, _HOOKS_GRACE, _PER_LOOK = 2, 10, 8, 5
_OWN_REQUESTS = 2
"""Of a fixture that is made and removed by HTTP."""


def maxima_of(manifest: Manifest, scheduled: int, journeys: int) -> Maxima:
    """The most that a run of so many journeys, scheduled for so many seconds, can take."""
    own = _OWN_REQUESTS if manifest.fixtures.owned_http is not None else 0
    fixture = _fixture_seconds(manifest)
    looks = sum(math.ceil(look.until.deadline_seconds if look.until else 0) + _PER_LOOK for look in manifest.looks)
    return Maxima(
        requests=journeys * max(journey.max_requests for journey in manifest.journeys) + own
        + sum(_attempts(look) for look in manifest.looks),
        writes=journeys * max(journey.max_writes for journey in manifest.journeys) + own,
        scheduled_seconds=scheduled, fixture_seconds=fixture, observation_seconds=looks,
        seconds=scheduled + _START_AND_DRAIN + fixture + looks)


def check_budgets(manifest: Manifest, most: Maxima) -> None:
    """Raises InputError for the first budget that the scenario itself can exceed."""
    budgets = manifest.budgets
    for name, needed, allowed in (("max_requests", most.requests, budgets.max_requests),
                                  ("max_write_attempts", most.writes, budgets.max_write_attempts),
                                  ("max_seconds", most.seconds, budgets.max_seconds)):
        if needed > allowed:
            raise InputError(f"manifest.json: budgets.{name}: is {allowed}, and the scenario may need {needed}",
                             hint="raise the budget, or make the schedule smaller")


def engine_seconds(manifest: Manifest, most: Maxima) -> float:
    """How long k6 may take."""
    return float(manifest.budgets.max_seconds - most.fixture_seconds - most.observation_seconds)


def hook_seconds(manifest: Manifest) -> tuple[int, int]:
    """The limits of setup and teardown."""
    command = manifest.fixtures.command
    if command is None:
        return 0, 0
    common = command.timeout_seconds or 0
    return command.setup_timeout_seconds or common, command.teardown_timeout_seconds or common


def _fixture_seconds(manifest: Manifest) -> int:
    if manifest.fixtures.owned_http is not None:
        return _OWNED
    return sum(hook_seconds(manifest)) + _HOOKS_GRACE if manifest.fixtures.command is not None else 0


def _attempts(look: ObservationModel) -> int:
    if look.until is None:
        return 1
    return math.ceil(look.until.deadline_seconds / look.until.interval_seconds) + 1
