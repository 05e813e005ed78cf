"""Observations: a GET of the application's final state, and what it holds; LiteTraffic's rules."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from runner.load.expressions import expression_in
from runner.load.job import LoadJob, Observation
from runner.load.matchers import Check, check
from runner.load.pointer import at_pointer
from runner.load_driver.client import Client, NoAnswer

_WANTED = 200


def observe(client: Client, job: LoadJob, look: Observation, env: Mapping[str, str],
            fixture_id: str | None) -> dict[str, Any]:
    """Its document, as ``observation.json`` has it: ``status`` is pass, fail or unknown."""
    names = {"planned_journeys": job.planned_journeys, "seed": job.seed}
    base: dict[str, Any] = {"assertion": look.assertion}
    try:
        url, headers = _request(job, look, env, fixture_id)
    except NoAnswer as error:
        return {**base, "status": "unknown", "expected": look.expected, "actual": None, "missing": str(error)}
    if look.deadline_seconds is None:
        return {**base, **_looked(client, look, url, headers, names)}
    return {**base, **_polled(client, look, url, headers, names)}


def _polled(client: Client, look: Observation, url: str, headers: Mapping[str, str],
            names: Mapping[str, int]) -> dict[str, Any]:
    """Until it holds; the last try is at the deadline. The last reading that was JSON is what counts."""
    begun, attempts = time.monotonic(), 0
    last: dict[str, Any] = {}
    assert look.deadline_seconds is not None
    while True:
        due = begun + min(attempts * (look.interval_seconds or look.deadline_seconds), look.deadline_seconds)
        time.sleep(max(0.0, due - time.monotonic()))
        found = _looked(client, look, url, headers, names)
        attempts += 1
        if found["status"] != "unknown" or not last:
            last = found
        over = due >= begun + look.deadline_seconds
        if found["status"] == "pass" or over:
            return {**last, "attempts": attempts, "elapsed_seconds": round(time.monotonic() - begun, 3)}


def _looked(client: Client, look: Observation, url: str, headers: Mapping[str, str],
            names: Mapping[str, int]) -> dict[str, Any]:
    try:
        answer = client.ask("GET", url, headers)
        if answer.status != _WANTED:
            raise NoAnswer(f"answered {answer.status}, not {_WANTED}")
        document = answer.json()
    except NoAnswer as error:
        return {"status": "unknown", "expected": look.expected, "actual": None, "missing": f"GET {look.path}: {error}"}
    checks = {pointer: check(value, at_pointer(document, pointer), names) for pointer, value in look.expected.items()}
    return _document(look, checks)


def _document(look: Observation, checks: Mapping[str, Check]) -> dict[str, Any]:
    expressions = {pointer: value for pointer, value in look.expected.items() if expression_in(value) is not None}
    return {"status": "pass" if all(one.passed for one in checks.values()) else "fail",
            "expected": {pointer: one.expected for pointer, one in checks.items()},
            "actual": {pointer: one.actual for pointer, one in checks.items()},
            "checks": {pointer: one.document() for pointer, one in checks.items()},
            **({"expressions": expressions} if expressions else {})}


def _request(job: LoadJob, look: Observation, env: Mapping[str, str],
             fixture_id: str | None) -> tuple[str, dict[str, str]]:
    """Where to ask, and the headers. Raises NoAnswer where a variable is missing or an origin is not allowed."""
    origin = look.origin or job.target
    if look.origin_env is not None:
        origin = _variable(env, look.origin_env).rstrip("/")
        more = env.get(job.allowed_origins_env or "", "")
        if origin not in {*job.allowed_origins, *(text.strip().rstrip("/") for text in more.split(","))}:
            raise NoAnswer(f"the origin in {look.origin_env} is not in allowed_origins")
    headers = {"X-LiteTraffic-Fixture": fixture_id} if fixture_id is not None else {}
    if look.token_env is not None:
        headers["Authorization"] = f"Bearer {_variable(env, look.token_env)}"
    headers |= {name: _variable(env, variable) for name, variable in look.headers_env}
    return origin + look.path, headers


def _variable(env: Mapping[str, str], name: str) -> str:
    if name not in env:
        raise NoAnswer(f"the variable {name} was not given")
    return env[name]
