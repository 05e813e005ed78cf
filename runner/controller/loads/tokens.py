"""Tokens of actors: JSON Web Tokens (RFC 7519), HS256, minted for one run and kept nowhere."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from runner.errors import UsageError, printable
from runner.scenarios.model import Actor, JwtRecipe

LEAST_KEY = 8
MAX_VARIABLE = 128 << 10
_TEMPLATE = re.compile(r"\$\{(run_id|actor_index)\}")


def mint(actors: tuple[Actor, ...], env: Mapping[str, str], run_id: str) -> tuple[tuple[str, str], ...]:
    """The variables with their tokens. Raises UsageError for a key that is too short, and for tokens that do not fit
    into one variable.
    """
    return tuple(_minted(actor, actor.jwt, position, env, run_id)
                 for position, actor in enumerate(actors) if actor.jwt is not None)


def _minted(actor: Actor, recipe: JwtRecipe, position: int, env: Mapping[str, str], run_id: str) -> tuple[str, str]:
    key = env[recipe.secret_env]
    if len(key) < LEAST_KEY:
        raise UsageError(f"--env {recipe.secret_env}: a key needs at least {LEAST_KEY} characters")
    if not recipe.per_identity:
        return f"LT_TOKEN_{actor.variable}", _token(recipe, key, run_id, position)
    tokens = [_token(recipe, key, run_id, index) for index in range(actor.count)]
    value = json.dumps(tokens, separators=(",", ":"))
    if len(value) >= MAX_VARIABLE:
        raise UsageError(f"the tokens of {actor.count} actors of the class {printable(actor.name)[:80]} do not fit "
                         "into one variable", hint="lower the class's count, or leave per_identity out")
    return f"LT_TOKENS_{actor.variable}", value


def _token(recipe: JwtRecipe, key: str, run_id: str, index: int) -> str:
    # Start-up time: few scenarios have actors with tokens.
    import jwt

    now = int(time.time())
    claims = {**_filled(recipe.claims, {"run_id": run_id, "actor_index": str(index)}),
              "iat": now, "exp": now + recipe.ttl_seconds}
    return jwt.encode(claims, key, algorithm="HS256")


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _TEMPLATE.sub(lambda found: names[found[1]], value)
    if isinstance(value, dict):
        return {key: _filled(item, names) for key, item in value.items()}
    return [_filled(item, names) for item in value] if isinstance(value, list) else value
