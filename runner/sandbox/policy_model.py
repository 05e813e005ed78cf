"""What a policy is: every cap and every fixed setting of a sandbox. The fields are described in docs/policies.md.

Sizes are bytes (written ``512MiB``), ``timeout`` is seconds, ``cpus`` a number of cores. There is no word for
privileges, host mounts or namespaces, so no file can ask for them.
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from runner.sandbox.seccomp import profile_sha256
from runner.sandbox.sizes import format_size, parse_size

PAGE = 4096
MIN_MEMORY = 6 << 20
MIN_CPUS = 0.01
_NOBODY = 65534
_READ_SIZE = BeforeValidator(parse_size)

Size = Annotated[int, _READ_SIZE]
Memory = Annotated[int, _READ_SIZE, Field(ge=MIN_MEMORY)]
Pages = Annotated[int, _READ_SIZE, Field(ge=PAGE)]
Count = Annotated[int, Field(ge=1, le=1 << 30)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
VariableValue = Annotated[str, Field(max_length=4096, pattern=r"^[^\x00]*$")]
Acceptable = Literal["cpus", "file_size", "memory", "nofile", "pids", "seccomp", "shm", "swap", "tmp", "warnings",
                     "work"]


def _plain_user(user: str) -> str:
    """Neither root nor nobody: 65534 may use a file system's reserve and is what unmapped ids show as."""
    ids = [int(part) for part in user.split(":")]
    if not all(0 < number < _NOBODY for number in ids):
        raise ValueError(f"both ids must be between 1 and {_NOBODY - 1}")
    return user


def _only_true(value: object) -> object:
    if value is not True:  # 1 would equal it
        raise ValueError("must be true")
    return value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class WorkLimits(_Part):
    """The work volume, ``/workspace``."""

    size: Pages
    inodes: Count
    medium: Literal["tmpfs"]


class TmpLimits(_Part):
    """``/tmp``, and each path that an image declares as VOLUME."""

    size: Pages
    inodes: Count


class OutputLimits(_Part):
    """Output: more than ``stdout`` or ``stderr`` ends the run; ``keep`` of each is kept, ``artifacts`` in all."""

    stdout: Size
    stderr: Size
    keep: Size
    artifacts: Size


class PayloadLimits(_Part):
    """What sealing accepts. ``portable_names`` refuses names that collide by case or Unicode normalisation."""

    files: Count
    bytes: Size
    depth: Count
    name_bytes: Annotated[int, Field(ge=1, le=255)]
    path_bytes: Annotated[int, Field(ge=1, le=4096)]
    portable_names: bool


class PolicyFields(_Part):
    """The fields alone, each valid by itself."""

    name: Name
    user: Annotated[str, Field(pattern=r"^[0-9]{1,5}:[0-9]{1,5}$"), AfterValidator(_plain_user)]
    network: Literal["none"]
    read_only_root: Annotated[Literal[True], BeforeValidator(_only_true)]
    memory: Memory
    pids: Count
    cpus: Annotated[float, Field(ge=MIN_CPUS, le=1024)]
    nofile: Annotated[int, Field(ge=16, le=1 << 20)]
    file_size: Size
    shm: Pages
    work: WorkLimits
    tmp: TmpLimits
    output: OutputLimits
    payload: PayloadLimits
    timeout: Annotated[int, Field(ge=1, le=7 * 86400)]
    seccomp: Name
    runs_per_steward: Annotated[int, Field(ge=1, le=256)]
    env: dict[VariableName, VariableValue]
    runtime: Name | None = None
    runtime_preferred: Name | None = None
    accept_unenforced: Annotated[tuple[Acceptable, ...], BeforeValidator(_as_tuple)] = ()

    def document(self) -> dict[str, Any]:
        """As a policy file would say it: sizes as text, fields in order, unset ones left out."""
        return _document(self)


class Policy(PolicyFields):
    """A policy whose fields also fit together."""

    @model_validator(mode="after")
    def _consistent(self) -> Policy:
        if self.memory <= self.work.size + self.tmp.size:
            raise ValueError("memory must be more than work.size + tmp.size: a tmpfs is charged to who writes it,"
                             " and a full disk would look like an exhausted memory")
        if "seccomp" in self.accept_unenforced and self.runtime is None:
            raise ValueError("accept_unenforced: seccomp can go without only where `runtime` names one that brings a"
                             " kernel of its own")
        if self.payload.bytes > self.work.size:
            raise ValueError("work.size must hold payload.bytes")
        if self.payload.files >= self.work.inodes:
            raise ValueError("work.inodes must be more than payload.files")
        return self

    def digest(self) -> str:
        """SHA-256 of the canonical JSON of all fields and of the seccomp profile's own digest.

        Canonical: sorted keys, no spaces, ASCII, sizes as numbers. Raises PolicyError without the profile.
        """
        fields = {**self.model_dump(mode="json"), "seccomp_sha256": profile_sha256(self.seccomp)}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("ascii")).hexdigest()


def size_fields(model: type[BaseModel] = PolicyFields, prefix: str = "") -> frozenset[str]:
    """Dotted names of the fields that are sizes."""
    found: set[str] = set()
    for name, field in model.model_fields.items():
        if _READ_SIZE in field.metadata:
            found.add(prefix + name)
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            found |= size_fields(field.annotation, f"{prefix}{name}.")
    return frozenset(found)


def _document(part: BaseModel) -> dict[str, Any]:
    sizes = size_fields(type(part))
    said: dict[str, Any] = {}
    for name in type(part).model_fields:
        value = getattr(part, name)
        if isinstance(value, BaseModel):
            said[name] = _document(value)
        elif value is not None and value != ():
            said[name] = format_size(value) if name in sizes else list(value) if isinstance(value, tuple) else value
    return said
