"""Observations: a GET of the application's final state, and what it holds; LiteTraffic's rules and documents."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from runner.load.expressions import expression_in
from runner.load.job import LoadJob, Observation
from runner.load.matchers import Check, check
from runner.load.origins import normal_origin
from runner.load.pointer import ABSENT, at_pointer
from runner.load_driver.client import Client, NoAnswer
from runner.load_driver.stopping import Stop

_WANTED = 200


def observe(client: Client, job: LoadJob, look: Observation, env: Mapping[str, str], fixture_id: str | None,
            stop: Stop) -> dict[str, Any]:
    """Its document, as ``observation.json`` has it: ``status`` is pass, fail or unknown, and then there is a reason."""
    try:
        url, headers = _request(job, look, env, fixture_id)
    except NoAnswer as error:
        return unknown(look, str(error))
    names = {"planned_journeys": job.planned_journeys, "seed": job.seed}
    if look.deadline_seconds is None:
        return _looked(client, look, url, headers, names)
    return _polled(client, look, url, headers, names, stop)


def unknown(look: Observation, reason: str) -> dict[str, Any]:
    """The document of an observation that nothing is known of."""
    return {"assertion": look.assertion, "status": "unknown", "reason": reason}


def _polled(client: Client, look: Observation, url: str, headers: Mapping[str, str], names: Mapping[str, int],
            stop: Stop) -> dict[str, Any]:
    """Until it holds; the last try is at the deadline. The last reading that was JSON is what counts.

    A try that takes longer than the interval costs the tries that would have been due meanwhile, never more time.
    """
    assert look.deadline_seconds is not None
    interval = look.interval_seconds or look.deadline_seconds
    begun, attempts, due = time.monotonic(), 0, 0.0
    last: dict[str, Any] = {}
    while True:
        found = _looked(client, look, url, headers, names)
        attempts += 1
        last = found if found["status"] != "unknown" or not last or last["status"] == "unknown" else last
        passed = time.monotonic() - begun
        if found["status"] == "pass" or due >= look.deadline_seconds or passed >= look.deadline_seconds or stop.asked:
            return {**last, "attempts": attempts, "elapsed_seconds": round(passed, 3)}
        due = min(max(due + interval, math.ceil(passed / interval) * interval), look.deadline_seconds)
        stop.pause(begun + due - time.monotonic())


def _looked(client: Client, look: Observation, url: str, headers: Mapping[str, str],
            names: Mapping[str, int]) -> dict[str, Any]:
    try:
        answer = client.ask("GET", url, headers)
        if answer.status != _WANTED:
            raise NoAnswer(f"the answer was {answer.status}, not {_WANTED}")
        document = answer.json()
    except NoAnswer as error:
        return unknown(look, f"GET {look.path}: {error}")
    found = {pointer: at_pointer(document, pointer) for pointer in look.expected}
    checks = {pointer: check(value, found[pointer], names) for pointer, value in look.expected.items()}
    return _document(look, checks, [pointer for pointer, value in found.items() if value is ABSENT])


def _document(look: Observation, checks: Mapping[str, Check], missing: list[str]) -> dict[str, Any]:
    expressions = {pointer: value for pointer, value in look.expected.items() if _has_expression(value)}
    return {"assertion": look.assertion,
            "status": "pass" if all(one.passed for one in checks.values()) else "fail",
            "expected": {pointer: one.expected for pointer, one in checks.items()},
            "actual": {pointer: one.actual for pointer, one in checks.items()},
            "checks": {pointer: one.document() for pointer, one in checks.items()},
            **({"expressions": expressions} if expressions else {}),
            **({"missing": missing} if missing else {})}


def _has_expression(value: Any) -> bool:
    operands = value.values() if isinstance(value, dict) and len(value) == 1 else (value,)
    return any(expression_in(operand) is not None for operand in operands)


def _request(job: LoadJob, look: Observation, env: Mapping[str, str],
             fixture_id: str | None) -> tuple[str, dict[str, str]]:
    """Where to ask, and the headers. Raises NoAnswer where a variable is missing or an origin is not allowed."""
    origin = look.origin or job.target
    if look.origin_env is not None:
        origin = _origin(job, look.origin_env, env)
    headers = {"X-LiteTraffic-Fixture": fixture_id} if fixture_id is not None else {}
    if look.token_env is not None:
        headers["Authorization"] = f"Bearer {_variable(env, look.token_env)}"
    headers |= {name: _variable(env, variable) for name, variable in look.headers_env}
    return origin + look.path, headers


def _origin(job: LoadJob, name: str, env: Mapping[str, str]) -> str:
    """What the variable says, if it is among those that are allowed. No value is ever shown."""
    value, more = _variable(env, name), env.get(job.allowed_origins_env or "", "")
    try:
        allowed = {normal_origin(text.strip()) for text in (*job.allowed_origins, *more.split(",")) if text.strip()}
    except ValueError:
        raise NoAnswer(f"the variable {job.allowed_origins_env} has what is no origin") from None
    try:
        origin = normal_origin(value)
    except ValueError:
        raise NoAnswer(f"what the variable {name} has is no origin") from None
    if origin not in allowed:
        raise NoAnswer(f"the origin in the variable {name} is not an allowed one")
    return origin


def _variable(env: Mapping[str, str], name: str) -> str:
    if not env.get(name):
        raise NoAnswer(f"the variable {name} was not given")
    return env[name]
