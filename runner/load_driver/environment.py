"""The variables that k6 and the hooks get: what LiteTraffic lists, what a person gave, and nothing else. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from runner.load.job import LoadJob

_BASICS = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")
MAX_VARIABLE = 128 << 10
"""Bytes of one variable, its name included, that Linux hands to a program."""


class TooLarge(Exception):
    """A value does not fit into one variable; the message is one sentence."""


def hook_environment(own: Mapping[str, str], job: LoadJob) -> dict[str, str]:
    """For setup; teardown gets LT_FIXTURE_JSON too, if there is one."""
    kept = {name: own[name] for name in (*_BASICS, *job.env_names) if name in own}
    return {**kept, "LT_RUN_ID": job.run_id, "LT_TARGET": job.target, "LT_SEED": str(job.seed)}


def engine_environment(own: Mapping[str, str], job: LoadJob, *, fixture_id: str | None = None,
                       fixture: dict[str, Any] | None = None, pool: list[Any] | None = None) -> dict[str, str]:
    """For k6. Raises TooLarge."""
    given: dict[str, str] = {
        **hook_environment(own, job), "K6_NO_USAGE_REPORT": "true", "LT_MAX_IN_FLIGHT": str(job.max_in_flight),
        "LT_SCHEDULE_JSON": compact([asdict(phase) for phase in job.schedule])}
    if fixture_id is not None:
        given["LT_FIXTURE_ID"] = fixture_id
    if fixture is not None:
        given["LT_FIXTURE_JSON"] = compact(fixture)
    if pool is not None:
        given["LT_FIXTURE_POOL_JSON"] = compact(pool)
    for name, value in given.items():
        if len(name) + len(value.encode("utf-8", "surrogateescape")) + 2 > MAX_VARIABLE:
            raise TooLarge(f"{name} would have more than {MAX_VARIABLE >> 10} KiB")
    return given


def compact(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
