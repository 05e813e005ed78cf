"""Lowering a policy: by a second one, or by what a report asks for. Nothing here can widen one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError

from runner.errors import PolicyError, ReportError, printable
from runner.sandbox.policy_model import MIN_CPUS, MIN_MEMORY, PAGE, Policy, PolicyFields, size_fields
from runner.sandbox.sizes import format_size

_Fields = TypeVar("_Fields", bound=PolicyFields)
_FLOORS: dict[str, float] = {"memory": MIN_MEMORY, "pids": 1, "cpus": MIN_CPUS, "tmp": PAGE, "work": PAGE}


class Asks(Protocol):
    """What a report asks for, such as ``runner.case.RequestedLimits``; ``None``: nothing."""

    @property
    def memory(self) -> int | None: ...
    @property
    def pids(self) -> int | None: ...
    @property
    def cpus(self) -> float | None: ...
    @property
    def tmp(self) -> int | None: ...
    @property
    def work(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Clamp:
    """A limit of which a report asked for more than it got: bytes, counts or cores."""

    name: str
    asked: float
    used: float


def tighten(base: Policy, overlay: Mapping[str, object], source: str = "overlay") -> Policy:
    """``base`` with the fields of ``overlay``, each of which may only be lower or equal.

    A runtime may be named where none was, variables may be added, names may become portable. ``source`` names
    the overlay in messages. Raises PolicyError naming the field and both values.
    """
    merged = _merge(base.document(), overlay)
    wanted = build(PolicyFields, merged, source)
    before, after = _leaves(base.model_dump()), _leaves(wanted.model_dump())
    for field in sorted(after):
        if field != "name" and not _is_tighter(field, before.get(field), after[field]):
            raise PolicyError(f"policy {source}: {field} may only be tightened: policy {base.name} has"
                              f" {_said(field, before.get(field))}, this has {_said(field, after[field])}",
                              hint="a policy without `extends` may set any value, if it sets all")
    return build(Policy, merged, source)


def build(model: type[_Fields], fields: Mapping[str, object], source: str) -> _Fields:
    """``fields`` as a ``model``. Raises PolicyError naming ``source`` and the first wrong field."""
    try:
        return model.model_validate(dict(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(printable(str(part))[:80] for part in first["loc"])
        message = printable(first["msg"].removeprefix("Value error, "))
        raise PolicyError(f"policy {source}: {where + ': ' if where else ''}{message}") from None


def clamp(policy: Policy, asks: Asks, payload_bytes: int = 0) -> tuple[Policy, tuple[Clamp, ...]]:
    """The policy lowered to what a report asks for, and the asks that were not met in full.

    When memory no longer holds work and tmp, these shrink with it, yet work keeps ``payload_bytes``, the room
    that one copy of the payload takes (a payload that the policy does not allow at all is for sealing to refuse).
    Raises ReportError for an ask that leaves no room for the payload.
    """
    need = min(payload_bytes, policy.payload.bytes)
    asked: dict[str, float] = {
        name: value for name in _FLOORS if (value := getattr(asks, name)) is not None}
    for name, value in asked.items():
        if not value > 0:  # NaN too
            raise ReportError(f"the report asks for a limit of {name} that is not positive")
    limits: dict[str, float] = {"memory": policy.memory, "pids": policy.pids, "cpus": policy.cpus,
                                      "tmp": policy.tmp.size, "work": policy.work.size}
    used = {name: _used(limit, asked.get(name), _FLOORS[name]) for name, limit in limits.items()}
    if used["memory"] <= used["work"] + used["tmp"]:
        used["work"] = min(used["work"], max(need, PAGE, int(used["memory"]) // 2))
        used["tmp"] = min(used["tmp"], max(PAGE, int(used["memory"]) // 8))
    _refuse_no_room(used, need)
    return _with_limits(policy, used), tuple(
        Clamp(name, value, used[name]) for name, value in asked.items() if used[name] < value)


def _used(limit: float, ask: float | None, floor: float) -> float:
    """Never above the limit, and not below what can be set up at all."""
    return limit if ask is None else min(limit, max(ask, floor))


def _refuse_no_room(used: Mapping[str, float], need: int) -> None:
    room = used["work"]
    if room < need or used["memory"] <= room + used["tmp"]:
        raise ReportError(f"the report's limits leave no room for its payload: it takes {need} bytes, memory"
                          f" is {used['memory']:.0f}, work {room:.0f}, tmp {used['tmp']:.0f}")


def _with_limits(policy: Policy, used: Mapping[str, float]) -> Policy:
    work = int(used["work"])
    return build(Policy, {
        **policy.model_dump(), "memory": int(used["memory"]), "pids": int(used["pids"]), "cpus": float(used["cpus"]),
        "tmp": {**policy.tmp.model_dump(), "size": int(used["tmp"])},
        "work": {**policy.work.model_dump(), "size": work},
        "payload": {**policy.payload.model_dump(), "bytes": min(policy.payload.bytes, work)}}, policy.name)


def _merge(base: Mapping[str, Any], overlay: Mapping[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in overlay.items():
        inner = base.get(key)
        merged[key] = _merge(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return merged


def _leaves(fields: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in fields.items():
        found |= _leaves(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def _is_tighter(field: str, old: object, new: object) -> bool:
    if field.startswith("env.") or field in {"runtime", "runtime_preferred"}:
        return old is None or new == old
    if isinstance(new, bool):
        return new or not old
    if isinstance(new, int | float) and isinstance(old, int | float):
        return new <= old
    if isinstance(new, tuple) and isinstance(old, tuple):
        return set(new) <= set(old)
    return new == old


def _said(field: str, value: object) -> str:
    if isinstance(value, int) and field in size_fields():
        return format_size(value)
    return printable(str(value))[:80]
