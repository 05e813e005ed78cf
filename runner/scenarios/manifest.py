"""``manifest.json``: its fields and rules, as LiteTraffic's ``schema_version`` 1 has them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AliasChoices, Field, StrictInt, field_validator, model_validator

from runner.load.matchers import check_expected
from runner.load.origins import normal_origin
from runner.scenarios.schedule import Schedule
from runner.scenarios.types import (
    CreatePath,
    DeletePath,
    Env,
    Header,
    HttpPath,
    IdPointer,
    Inside,
    NotNegative,
    Pointer,
    Positive,
    Stage,
    Strict,
    Text,
)

_MANY = 1000
_TEMPLATE = re.compile(r"\$\{([^}]*)\}")
_CLAIM_NAMES = frozenset({"run_id", "actor_index"})
Origin = Annotated[str, AfterValidator(normal_origin)]


class Auth(Strict):
    """How tokens of an actor class are minted."""

    kind: Literal["jwt_hs256"]
    secret_env: Env
    claims: dict[str, Any] = Field(default_factory=dict)
    ttl_seconds: Annotated[int, Field(ge=1, le=86_400)]
    per_identity: bool = False

    @field_validator("claims")
    @classmethod
    def _known_names(cls, claims: dict[str, Any]) -> dict[str, Any]:
        for text in _texts(claims):
            unknown = [name for name in _TEMPLATE.findall(text) if name not in _CLAIM_NAMES]
            if unknown:
                raise ValueError(f"knows only ${{run_id}} and ${{actor_index}}, not ${{{unknown[0][:40]}}}")
        return claims


class ActorModel(Strict):
    """A class of actors."""

    actor_class: Text = Field(validation_alias=AliasChoices("class", "actor_class"))
    count: Positive
    auth_recipe: Text
    auth: Auth | None = None


class JourneyModel(Strict):
    """The declared worst case of one journey, and what it is held to."""

    name: Text
    max_requests: Positive
    max_writes: NotNegative
    min_overlap: dict[Text, Positive] = Field(default_factory=dict, max_length=_MANY)
    expected_statuses: dict[Text, Annotated[tuple[Annotated[StrictInt, Field(ge=100, le=599)], ...],
                                            Field(min_length=1, max_length=500)]] = Field(default_factory=dict,
                                                                                          max_length=_MANY)
    stages: Annotated[tuple[Stage, ...], Field(min_length=1, max_length=12)] | None = None

    @field_validator("stages")
    @classmethod
    def _unique(cls, stages: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if stages is not None and len(set(stages)) != len(stages):
            raise ValueError("has a stage twice")
        return stages


class OwnedHttpModel(Strict):
    """A fixture that the run makes and removes by HTTP."""

    create_path: CreatePath
    delete_path: DeletePath
    id_pointer: IdPointer
    create_body: dict[str, Any] = Field(default_factory=dict)
    bearer_token_env: Env | None = None


_Seconds = Annotated[int, Field(ge=1, le=60)]
_Argv = Annotated[tuple[Text, ...], Field(min_length=1, max_length=_MANY)]


class CommandModel(Strict):
    """Commands before and after the load."""

    setup: _Argv
    teardown: _Argv
    timeout_seconds: _Seconds | None = None
    setup_timeout_seconds: _Seconds | None = None
    teardown_timeout_seconds: _Seconds | None = None
    cwd: Literal["bundle"] = "bundle"
    inputs: Annotated[tuple[Inside, ...], Field(max_length=_MANY)] = ()

    @model_validator(mode="after")
    def _timed(self) -> Self:
        for stage, own in (("setup", self.setup_timeout_seconds), ("teardown", self.teardown_timeout_seconds)):
            if own is None and self.timeout_seconds is None:
                raise ValueError(f"needs {stage}_timeout_seconds or timeout_seconds")
        return self


class Fixtures(Strict):
    """What a run needs to be there, and to be gone afterwards."""

    recipe: Text
    parameters: dict[str, Any] = Field(default_factory=dict)
    owned_http: OwnedHttpModel | None = None
    command: CommandModel | None = None
    pool: Inside | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.owned_http is not None and self.command is not None:
            raise ValueError("owned_http and command cannot be combined")
        return self


class Until(Strict):
    """Ask again until it holds. Seconds."""

    deadline_seconds: Annotated[float, Field(gt=0, le=60)]
    interval_seconds: Annotated[float, Field(ge=0.5)]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.interval_seconds > self.deadline_seconds:
            raise ValueError("interval_seconds must be at most deadline_seconds")
        return self


class ObservationModel(Strict):
    """A look at the final state."""

    path: HttpPath
    assertion: Text
    expected: dict[Pointer, Any] = Field(min_length=1, max_length=_MANY)
    bearer_token_env: Env | None = None
    headers_env: dict[Header, Env] = Field(default_factory=dict, max_length=100)
    origin: Origin | None = None
    origin_env: Env | None = None
    until: Until | None = None

    @field_validator("expected")
    @classmethod
    def _matchers(cls, expected: dict[str, Any]) -> dict[str, Any]:
        for pointer, value in expected.items():
            check_expected(value, pointer)
        return expected

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if self.origin is not None and self.origin_env is not None:
            raise ValueError("give origin or origin_env, not both")
        return self


class BudgetsModel(Strict):
    """Upper bounds of one run."""

    max_seconds: Positive
    max_requests: Positive
    max_write_attempts: NotNegative
    max_in_flight: Positive
    max_artifact_bytes: Annotated[int, Field(gt=0, le=1 << 40)]


class Manifest(Strict):
    """The whole of it."""

    schema_version: Annotated[int, Field(ge=1, le=1)]
    name: Text
    script: Inside
    actors: Annotated[tuple[ActorModel, ...], Field(min_length=1, max_length=_MANY)]
    fixtures: Fixtures
    journeys: Annotated[tuple[JourneyModel, ...], Field(min_length=1, max_length=_MANY)]
    schedule: Schedule
    assertions: Annotated[tuple[str, ...], Field(min_length=1, max_length=_MANY)]
    observer: Text
    observation: ObservationModel | None = None
    observations: Annotated[tuple[ObservationModel, ...], Field(max_length=_MANY)] = ()
    allowed_origins: Annotated[tuple[Origin, ...], Field(max_length=_MANY)] = ()
    allowed_origins_env: Env | None = None
    secret_env: Annotated[tuple[Env, ...], Field(max_length=_MANY)] = ()
    budgets: BudgetsModel

    @property
    def looks(self) -> tuple[ObservationModel, ...]:
        """All observations, however they are written."""
        return (self.observation,) if self.observation is not None else self.observations

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.observation is not None and self.observations:
            raise ValueError("give observation or observations, not both")
        backed = [look.assertion for look in self.looks]
        for name in backed:
            if name not in self.assertions:
                raise ValueError(f"an observation is for the assertion {name[:80]!r}, which assertions does not list")
        if len(set(backed)) != len(backed):
            raise ValueError("two observations are for one assertion")
        for look in self.looks:
            if look.origin is not None and look.origin not in self.allowed_origins:
                raise ValueError(f"the origin {look.origin[:80]!r} of an observation is not in allowed_origins")
        return self

    @model_validator(mode="after")
    def _tokens(self) -> Self:
        minted = [token_variable(actor.actor_class) for actor in self.actors if actor.auth is not None]
        if len(set(minted)) != len(minted):
            raise ValueError("the tokens of two actor classes would be in one variable; rename a class")
        if any(not name for name in minted):
            raise ValueError("an actor class with auth needs a letter or a digit in its name")
        return self


def token_variable(actor_class: str) -> str:
    """The CLASS in LT_TOKEN_CLASS: capitals, each run of other characters an underscore, none at the ends."""
    return re.sub(r"[^A-Z0-9]+", "_", actor_class.upper()).strip("_")


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]
