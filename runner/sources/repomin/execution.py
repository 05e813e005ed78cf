"""``execution``: how the reduction was run."""

from __future__ import annotations

from typing import cast

from runner.case import BackendName, RequestedLimits
from runner.sources.environment import is_environment_name
from runner.sources.repomin.fields import POSITIVE, Fields
from runner.sources.repomin.model import Execution
from runner.sources.wording import quoted, wrong

RESERVED_NAME = "REPOMIN"
_LEAST_MEMORY = 6 * 1024 * 1024


def read_execution(fields: Fields) -> Execution:
    """Check the object. What ReproMin leaves unchecked (image, network, directory name) stays in ``raw``."""
    backend = cast("BackendName", fields.choice("backend", ("host", "docker")))
    jobs = fields.integer("jobs", 1)
    timeout = fields.number("timeout_seconds", POSITIVE) if fields.has("timeout_seconds") else None
    exhausted = fields.flag("budget_exhausted") if fields.has("budget_exhausted") else None
    _check_semantic(fields)
    names = _names(fields) if fields.has("environment_names") else ()
    digest = fields.digest("environment_sha256") if fields.given("environment_sha256") else None
    limits = _limits(fields.object("limits")) if fields.has("limits") else RequestedLimits()
    return Execution(backend, jobs, timeout, exhausted, names, digest, limits, fields.raw)


def _check_semantic(fields: Fields) -> None:
    key = "semantic_reducer"
    reducer = fields.choice(key, ("none", "http")) if fields.given(key) else None
    if not fields.has("semantic_timeout"):
        return
    if not fields.has(key):
        raise fields.bad("semantic_timeout", "no such key without semantic_reducer")
    if reducer == "http":
        fields.number("semantic_timeout", POSITIVE)
    elif fields.given("semantic_timeout"):
        raise fields.bad("semantic_timeout", "null, because semantic_reducer is not http")


def _names(fields: Fields) -> tuple[str, ...]:
    """The writer sorts them, but order is not enforced."""
    seen: dict[str, None] = {}
    for index, item in enumerate(fields.array("environment_names")):
        path = f"{fields.at('environment_names')}[{index}]"
        if not isinstance(item, str) or not is_environment_name(item) or item == RESERVED_NAME:
            raise wrong(path, item, f"a variable name other than {RESERVED_NAME}")
        if item in seen:
            raise wrong(path, item, f"each name once, and {quoted(item)} is there already")
        seen[item] = None
    return tuple(seen)


def _limits(fields: Fields) -> RequestedLimits:
    """Every key is optional, but one that is there may not be null."""

    def optional(key: str, low: int) -> int | None:
        return fields.integer(key, low) if fields.has(key) else None

    return RequestedLimits(
        memory=optional("memory_bytes", _LEAST_MEMORY), pids=optional("pids", 1),
        cpus=fields.number("cpus", POSITIVE) if fields.has("cpus") else None,
        tmp=optional("tmpfs_bytes", 1), work=optional("workspace_bytes", 1))
