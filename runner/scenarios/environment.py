"""Which variables a scenario speaks of, and what a person should know before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.errors import printable
from runner.scenarios.imports import Closure
from runner.scenarios.loose import first_of, loose_types
from runner.scenarios.manifest import Manifest, token_variable

_TOKEN = "LT_TOKEN_"  # noqa: S105 - the start of a variable's name


def secrets_of(manifest: Manifest) -> set[str]:
    """Variables whose values are nobody's business. Tokens that are minted for a run are not among them."""
    keys = (actor.auth.secret_env for actor in manifest.actors if actor.auth)
    headers = (name for look in manifest.looks for name in look.headers_env.values())
    minted = _minted(manifest)
    return {name for name in (*manifest.secret_env, *keys, *headers, *_tokens(manifest)) if name not in minted}


def environment_of(manifest: Manifest) -> set[str]:
    """All variables that somebody may have to give: secrets, and those with origins."""
    origins = {look.origin_env for look in manifest.looks} | {manifest.allowed_origins_env}
    return secrets_of(manifest) | {name for name in origins if name is not None}


def warnings_of(raw: dict[str, Any], manifest: Manifest, closure: Closure) -> tuple[str, ...]:
    """One sentence each, at most 20 of a kind."""
    return (*first_of(loose_types(raw, manifest)), *first_of(_repeated(manifest)), *first_of(_unminted(manifest)),
            *first_of(f"{printable(name)}: opens a file by a computed name, so nobody can check that it is there"
                      for name in closure.computed))


def _tokens(manifest: Manifest) -> Iterator[str]:
    owned = manifest.fixtures.owned_http
    for name in (*(look.bearer_token_env for look in manifest.looks), owned.bearer_token_env if owned else None):
        if name is not None:
            yield name


def _minted(manifest: Manifest) -> set[str]:
    """A class with a token for each identity has no single one."""
    return {_TOKEN + token_variable(actor.actor_class) for actor in manifest.actors
            if actor.auth and not actor.auth.per_identity}


def _repeated(manifest: Manifest) -> Iterator[str]:
    for field, names in (("assertions", manifest.assertions),
                         ("journeys", tuple(journey.name for journey in manifest.journeys))):
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f"{field}: {printable(name)[:80]} is there twice; give each its own name"


def _unminted(manifest: Manifest) -> Iterator[str]:
    for name in sorted(set(_tokens(manifest)) - _minted(manifest)):
        if name.startswith(_TOKEN):
            yield f"{name}: no actor class with auth mints this one token, and a variable of that name is not handed on"
