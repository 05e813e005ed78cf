"""``tenant-isolation``: two identities, and whether each is kept from what the other owns."""

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
    Method,
    Statuses,
    actor,
    placeholders,
)
from runner.scenarios.types import Text

REFUSED = (401, 403, 404)
_OWNER = {"read": (200,), "write": (200, 201, 204)}
_READS = ("GET", "HEAD")
_KEY = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Resource = Text | Annotated[dict[_KEY, Text], Field(min_length=1, max_length=20)]


class Identity(Credentials):
    """Somebody, and what is theirs. ``markers`` are texts that only their data has."""

    name: Text
    resources: Annotated[tuple[_Resource, ...], Field(min_length=1, max_length=100)]
    markers: Annotated[tuple[Text, ...], Field(max_length=100)] = ()

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.auth is None and self.token_env is None and not self.headers:
            raise ValueError("needs auth, token_env or headers: without them the two are nobody")
        return self

    def filled(self) -> list[dict[str, str]]:
        """Each resource as named placeholders."""
        return [{"id": each} if isinstance(each, str) else dict(each) for each in self.resources]


class Endpoint(Filled):
    """A request that an owner may make, and the other may not."""

    method: Method
    kind: Literal["read", "write"]
    name: Text | None = None
    expected_statuses: Statuses | None = None
    check_own: bool = False
    read_back: int | str | None = None
    journey_in_path: bool = False

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if (self.kind == "read") is not (self.method in _READS):
            raise ValueError(f"a {self.kind} is no {self.method}")
        if self.kind == "read" and (self.body is not None or self.check_own or self.read_back is not None):
            raise ValueError("a read has no body, no check_own and no read_back")
        return self

    @property
    def owner(self) -> tuple[int, ...]:
        """Statuses that say yes."""
        return self.expected_statuses or _OWNER[self.kind]


class Tenants(Description):
    """The description of a ``tenant-isolation`` scenario."""

    identities: Annotated[tuple[Identity, ...], Field(min_length=2, max_length=2)]
    endpoints: Annotated[tuple[Endpoint, ...], Field(min_length=1, max_length=100)]
    unauthenticated_probe: bool = False

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        keys = {frozenset(resource) for who in self.identities for resource in who.filled()}
        if len(keys) > 1:
            raise ValueError("all resources must have the same keys")
        names = set(next(iter(keys)))
        if JOURNEY in names:
            raise ValueError("no resource may have the key journey, which is the journey's own")
        if self.identities[0].name == self.identities[1].name:
            raise ValueError("the two identities need different names")
        if not any(each.kind == "read" for each in self.endpoints):
            raise ValueError("at least one endpoint must be a read")
        for number, each in enumerate(self.endpoints):
            _check_places(number, each, names)
            self.read_back(each)
        return self

    @model_validator(mode="after")
    def _own_names(self) -> Self:
        for look in self.observations:
            if look.assertion in assertions_of(self):
                raise ValueError(f"the assertion {look.assertion} is made here; give the observation's another name")
        return self

    def read_back(self, endpoint: Endpoint) -> int:
        """Where among the endpoints the read is that shows what a write has changed. Raises ValueError."""
        wanted = endpoint.read_back
        for index, each in enumerate(self.endpoints):
            if each.kind == "read" and wanted in (None, index, each.name):
                return index
        raise ValueError(f"read_back {wanted!r} is neither the number nor the name of a read among the endpoints")


def _check_places(number: int, endpoint: Endpoint, keys: set[str]) -> None:
    in_path = set(PLACEHOLDER.findall(endpoint.path))
    if JOURNEY in in_path and not endpoint.journey_in_path:
        raise ValueError(f"endpoint {number} has {{journey}} in its path; say journey_in_path: true if that is meant")
    unknown = sorted(in_path - keys - {JOURNEY})
    if unknown:
        raise ValueError(f"endpoint {number} has {{{unknown[0]}}} in its path, which no resource has")
    if not keys & (in_path | set(placeholders(endpoint.body))):
        raise ValueError(f"endpoint {number} says nowhere which resource it is about, such as {{{min(keys)}}}")


def assertions_of(described: Tenants) -> tuple[str, ...]:
    """What is claimed of the application."""
    writes = any(each.kind == "write" for each in described.endpoints)
    marked = any(who.markers for who in described.identities)
    return ("own_access", "cross_tenant_read_blocked",
            *(("cross_tenant_write_blocked", "victim_unchanged") if writes else ()),
            *(("unauthenticated_rejected",) if described.unauthenticated_probe else ()),
            *(("no_foreign_data_in_own_responses",) if marked else ()))


def tenant_isolation(raw: dict[str, Any], described: Tenants, source: str) -> Bundle:
    """The scenario. Raises InputError, with the name of the description, where it breaks a rule of manifests."""
    writes = [each for each in described.endpoints if each.kind == "write"]
    reads = len(described.endpoints) - len(writes)
    owned = sum(len(who.resources) for who in described.identities)
    repeated = sum(each.check_own for each in writes)
    each_owner = reads + repeated + reads + 3 * len(writes) + (reads if described.unauthenticated_probe else 0)
    owner = sorted({status for each in described.endpoints if each.kind == "read" or each.check_own
                    for status in each.owner})
    statuses = {"own": owner, "cross_tenant": list(REFUSED),
                **({"unauthenticated": list(REFUSED)} if described.unauthenticated_probe else {})}
    shape = Shape(
        actors=[actor(who.name, who) for who in described.identities],
        journey={"name": "each for the other's", "max_requests": each_owner * owned,
                 "max_writes": (len(writes) + repeated) * owned, "expected_statuses": statuses},
        assertions=assertions_of(described), observer="the two identities themselves",
        secrets=tuple({who.token_env for who in described.identities if who.token_env}))
    warnings = tuple(f"{who.name} has no markers: its data is not looked for in what the other gets"
                     for who in described.identities if not who.markers)
    return Bundle(manifest_of(raw, described, shape, source), script_of(_kit(described), "tenant_isolation.js"),
                  warnings)


def _kit(described: Tenants) -> dict[str, Any]:
    return {
        "identities": [{"name": who.name, "headers": who.headers, "token_env": who.token_env or "",
                        "minted": who.auth is not None, "resources": who.filled(), "markers": list(who.markers)}
                       for who in described.identities],
        "endpoints": [{"method": each.method, "path": each.path, "kind": each.kind, "body": each.body,
                       "name": each.name or f"{each.method} {each.path}", "statuses": list(each.owner),
                       "check_own": each.check_own, "journey_in_path": each.journey_in_path,
                       **({"read_back": described.read_back(each)} if each.kind == "write" else {})}
                      for each in described.endpoints],
        "refused": list(REFUSED), "nobody": described.unauthenticated_probe,
        "marked": any(who.markers for who in described.identities),
    }
