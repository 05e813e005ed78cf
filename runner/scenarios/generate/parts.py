"""What the descriptions of all generators have in common, and how texts of theirs are filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from runner.scenarios.manifest import Auth, Fixtures, ObservationModel, Origin
from runner.scenarios.schedule import Schedule
from runner.scenarios.types import Env, Header, HttpPath, Positive, Strict, Text

JOURNEY = "journey"
"""The placeholder that is filled with the key of a journey."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
FIXTURES = {"recipe": "static-resources"}
SCHEDULE = {"unit": "journeys_per_second", "phases": [{"name": "warmup", "seconds": 1, "rate": 1},
                                                      {"name": "measure", "seconds": 4, "rate": 2},
                                                      {"name": "recovery", "seconds": 1, "rate": 1}]}
"""Where a description says nothing else."""

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
Status = Annotated[int, Field(ge=100, le=599)]
Statuses = Annotated[tuple[Status, ...], Field(min_length=1, max_length=100)]
_MANY = 100


class Minted(Auth):
    """As in a manifest; the kind need not be said."""

    kind: Literal["jwt_hs256"] = "jwt_hs256"


class Credentials(Strict):
    """How somebody proves who they are: a token minted for the run, one that a variable holds, or plain headers."""

    auth: Minted | None = None
    token_env: Env | None = None
    headers: dict[Header, Text] = Field(default_factory=dict, max_length=_MANY)

    @model_validator(mode="after")
    def _one_token(self) -> Self:
        if self.auth is not None and self.token_env is not None:
            raise ValueError("give auth or token_env, not both")
        return self


class Description(Strict):
    """The fields that every generator knows. Those of a manifest are copied into it as they are written."""

    name: Text
    fixtures: Fixtures = Fixtures.model_validate(FIXTURES)
    schedule: Schedule = Schedule.model_validate(SCHEDULE)
    observations: Annotated[tuple[ObservationModel, ...], Field(max_length=_MANY)] = ()
    allowed_origins: Annotated[tuple[Origin, ...], Field(max_length=_MANY)] = ()
    allowed_origins_env: Env = ""
    max_in_flight: Positive = 6
    drain_seconds: Annotated[int, Field(ge=0, le=600)] = 5


class Filled(Strict):
    """A request whose path and body may have placeholders."""

    path: HttpPath
    body: Any = None

    @field_validator("path", mode="before")
    @classmethod
    def _kept(cls, path: Any) -> Any:
        """Braces are no characters of a path, and are filled in before there is one."""
        if isinstance(path, str) and ("{" in PLACEHOLDER.sub("", path) or "}" in PLACEHOLDER.sub("", path)):
            raise ValueError("has a brace that belongs to no placeholder such as {id}")
        return path


def placeholders(value: Any) -> Iterator[str]:
    """The names in all texts of a JSON value, its keys left out."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from placeholders(item)


def actor(name: str, who: Credentials) -> dict[str, Any]:
    """One of a manifest's actors."""
    if who.auth is not None:
        return {"class": name, "count": 1, "auth_recipe": "a token minted for the run",
                "auth": who.auth.model_dump(mode="json")}
    recipe = f"a token in {who.token_env}" if who.token_env else "plain headers" if who.headers else "none"
    return {"class": name, "count": 1, "auth_recipe": recipe}
