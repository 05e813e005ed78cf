"""``idempotent-write``: a write sent several times at once, as users and retrying clients do, must count once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from runner.scenarios.generate.bundle import Bundle, Shape, manifest_of, script_of
from runner.scenarios.generate.parts import (
    JOURNEY,
    PLACEHOLDER,
    Credentials,
    Description,
    Filled,
    Statuses,
    actor,
    placeholders,
)
from runner.scenarios.types import Header, HttpPath, Pointer, Strict

_NAMES = frozenset({JOURNEY})


class Write(Filled):
    """What is sent in copies. ``same`` points to what all answers must agree on, such as the ID of the order;
    ``duplicate_statuses`` are what a copy may get instead.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE"] = "POST"
    key_header: Header | None = None
    statuses: Statuses = (200, 201)
    duplicate_statuses: Annotated[tuple[int, ...], Field(max_length=100)] = ()
    same: Pointer | None = None

    @model_validator(mode="after")
    def _told_apart(self) -> Self:
        names = {*PLACEHOLDER.findall(self.path), *placeholders(self.body)}
        if self.key_header is None and JOURNEY not in names:
            raise ValueError("needs key_header, or {journey} in its path or body: nothing tells two writes apart")
        return self


class Count(Strict):
    """Where to see how often it counted: ``pointer`` is a number, or a list whose items are counted."""

    path: HttpPath
    pointer: Pointer = ""
    statuses: Statuses = (200,)


class Idempotent(Description):
    """The description of an ``idempotent-write`` scenario."""

    write: Write
    count: Count | None = None
    identity: Credentials = Credentials()
    copies: Annotated[int, Field(ge=2, le=6)] = 3

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for path in (self.write.path, self.count.path if self.count is not None else ""):
            unknown = sorted(set(PLACEHOLDER.findall(path)) - _NAMES)
            if unknown:
                raise ValueError(f"{{{unknown[0]}}} in a path: only {{journey}} can be filled in here")
        if self.write.same is None and self.count is None:
            raise ValueError("needs count, or same in its write: otherwise nobody sees that a copy counted")
        for look in self.observations:
            if look.assertion in assertions_of(self):
                raise ValueError(f"the assertion {look.assertion} is made here; give the observation's another name")
        return self


def assertions_of(described: Idempotent) -> tuple[str, ...]:
    """What is claimed of the application."""
    return ("write_accepted", *(("same_answer",) if described.write.same is not None else ()),
            *(("counted_once",) if described.count is not None else ()))


def idempotent_write(raw: dict[str, Any], described: Idempotent, source: str) -> Bundle:
    """The scenario. Raises InputError, with the name of the description, where it breaks a rule of manifests."""
    write, count = described.write, described.count
    statuses = {"write": sorted({*write.statuses, *write.duplicate_statuses}),
                **({"count": list(count.statuses)} if count is not None else {})}
    token = described.identity.token_env
    shape = Shape(
        actors=[actor("sender", described.identity)],
        journey={"name": "send it again", "max_requests": described.copies + (count is not None),
                 "max_writes": described.copies, "min_overlap": {"write": 2}, "expected_statuses": statuses},
        assertions=assertions_of(described), observer="whoever sent it", secrets=(token,) if token else ())
    warnings = () if count is not None else ("no count: a copy that has an effect and answers alike is not seen",)
    kit = {"write": write.model_dump(mode="json"), "count": count.model_dump(mode="json") if count else None,
           "copies": described.copies, "headers": described.identity.headers, "token_env": token or "",
           "minted": described.identity.auth is not None}
    return Bundle(manifest_of(raw, described, shape, source), script_of(kit, "idempotent_write.js"), warnings)
