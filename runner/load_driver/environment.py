"""The variables that k6 and the hooks get: what LiteTraffic lists, what a person gave, and nothing else. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from runner.load.job import LoadJob

_BASICS = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")
_MADE = frozenset({"LT_FIXTURE_ID", "LT_FIXTURE_JSON", "LT_FIXTURE_POOL_JSON"})
"""Only a run itself makes these."""
_TOKENS = ("LT_TOKEN_", "LT_TOKENS_")
_ENGINES = ("K6_",)
"""Such variables are options of k6, and its options are not for a person's environment to decide."""
MAX_VARIABLE = 128 << 10
"""Bytes of one variable, its name included, that Linux hands to a program."""


class TooLarge(Exception):
    """A value does not fit into one variable; the message is one sentence."""


def hook_environment(own: Mapping[str, str], job: LoadJob, fixture: str | None = None) -> dict[str, str]:
    """For a hook. ``fixture`` is what setup told, for teardown; one that is too large is left out, so that teardown
    still runs.
    """
    kept = {name: own[name] for name in (*_BASICS, *job.env_names)
            if name in own and name not in _MADE and not name.startswith((*_TOKENS, *_ENGINES))}
    given = {**kept, "LT_RUN_ID": job.run_id, "LT_TARGET": job.target, "LT_SEED": str(job.seed)}
    return given if fixture is None or _is_large("LT_FIXTURE_JSON", fixture) else {**given, "LT_FIXTURE_JSON": fixture}


def engine_environment(own: Mapping[str, str], job: LoadJob, *, fixture_id: str | None = None,
                       fixture: str | None = None, pool: list[Any] | None = None) -> dict[str, str]:
    """For k6; ``fixture`` is what setup told. Raises TooLarge."""
    tokens = {name: own[name] for name in job.env_names if name in own and name.startswith(_TOKENS)}
    given: dict[str, str] = {
        **tokens, **hook_environment(own, job), "LT_MAX_IN_FLIGHT": str(job.max_in_flight),
        "LT_SCHEDULE_JSON": compact([asdict(phase) for phase in job.schedule])}
    if fixture_id is not None:
        given["LT_FIXTURE_ID"] = fixture_id
    if fixture is not None:
        given["LT_FIXTURE_JSON"] = fixture
    if pool is not None:
        given["LT_FIXTURE_POOL_JSON"] = compact(pool)
    for name, value in given.items():
        if _is_large(name, value):
            raise TooLarge(f"{name} would have more than {MAX_VARIABLE >> 10} KiB")
    return given


def _is_large(name: str, value: str) -> bool:
    return len(name) + len(value.encode("utf-8", "surrogateescape")) + 2 > MAX_VARIABLE


def compact(value: object) -> str:
    """JSON on one line."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
