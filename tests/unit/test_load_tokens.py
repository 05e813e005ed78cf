"""Tokens of actors, read back by the library that users' servers have."""

from __future__ import annotations

import json

import jwt
import pytest

from runner.controller.loads.tokens import mint
from runner.errors import UsageError
from runner.scenarios.model import Actor, JwtRecipe

KEY = "a key of more than thirty-two bytes, as HS256 wants"


def actor(name: str = "tenant", count: int = 3, **recipe: object) -> Actor:
    fields = {"secret_env": "KEY", "claims": {"sub": "user-${actor_index}", "run": ["${run_id}"], "iat": 1},
              "ttl_seconds": 60, **recipe}
    return Actor(name, count, name.upper(), "label", JwtRecipe(**fields))  # type: ignore[arg-type]


def claims(token: str) -> dict[str, object]:
    found: dict[str, object] = jwt.decode(token, KEY, algorithms=["HS256"])
    return found


def test_one_token_for_a_class() -> None:
    (name, value), = mint((Actor("guest", 1, "GUEST", "none"), actor()), {"KEY": KEY}, "run_1")
    seen = claims(value)
    assert name == "LT_TOKEN_TENANT"
    assert (seen["sub"], seen["run"]) == ("user-1", ["run_1"])
    assert seen["exp"] == seen["iat"] + 60  # type: ignore[operator]


def test_one_token_for_each_actor() -> None:
    (name, value), = mint((actor(per_identity=True),), {"KEY": KEY}, "run_1")
    assert name == "LT_TOKENS_TENANT"
    assert [claims(token)["sub"] for token in json.loads(value)] == ["user-0", "user-1", "user-2"]


def test_a_short_key_is_refused() -> None:
    with pytest.raises(UsageError, match="--env KEY: a key needs at least 8 characters"):
        mint((actor(),), {"KEY": "short"}, "run_1")


def test_tokens_that_do_not_fit_into_a_variable_are_refused() -> None:
    with pytest.raises(UsageError, match="2000 actors of the class tenant do not fit"):
        mint((actor(count=2000, per_identity=True),), {"KEY": KEY}, "run_1")
