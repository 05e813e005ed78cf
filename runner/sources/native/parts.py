"""What reports of every kind have in common. Frozen, strict, capped; unknown keys are refused.

Sizes are bytes unless a name says otherwise; times are seconds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from runner.sources.environment import environment_sha256, is_environment_name

MAX_COUNT = 2**63 - 1
_CREATED = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$"
_MOST_ITEMS = 1024
_WEEK = 7 * 24 * 3600

T = TypeVar("T")


class Part(BaseModel):
    """Base of every object in a native report."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _as_tuple(value: object) -> object:
    # Checked before the items are: pydantic makes an error for each bad item, and there may be millions.
    if isinstance(value, list) and len(value) > _MOST_ITEMS:
        raise ValueError(f"has {len(value)} items, at most {_MOST_ITEMS} are allowed")
    return tuple(value) if isinstance(value, list) else value


def no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("has a NUL character")
    return text


def _a_moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


def _a_variable(text: str) -> str:
    if not is_environment_name(text):
        raise ValueError("is not a variable name")
    return text


def _relative(text: str) -> str:
    if text.startswith("/") or ".." in text.split("/"):
        raise ValueError("is not a path inside the payload")
    return text


Array = Annotated[tuple[T, ...], BeforeValidator(_as_tuple)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Positive = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Octal = Annotated[str, StringConstraints(pattern=r"^[0-7]{4}$")]
EscapedPath = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,12288}$")]
ImageId = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Short = Annotated[str, StringConstraints(max_length=512), AfterValidator(no_nul)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(no_nul)]
Moment = Annotated[str, StringConstraints(pattern=_CREATED), AfterValidator(_a_moment)]
VariableName = Annotated[str, StringConstraints(max_length=1024), AfterValidator(_a_variable)]
RelativePath = Annotated[str, StringConstraints(min_length=1, max_length=4096), AfterValidator(no_nul),
                         AfterValidator(_relative)]


class ToolPart(Part):
    """What wrote the report."""

    name: Word
    version: Word


class FingerprintPart(Part):
    """Digests of the payload's canonical manifest."""

    exact: Digest
    content: Digest
    scheme: Literal["manifest-sha256-v1"]


class ModesPart(Part):
    """Permission bits in octal: of most files, of most directories, and of ``others`` by escaped path."""

    file: Octal
    directory: Octal
    others: Annotated[dict[EscapedPath, Octal], Field(max_length=1000)] = Field(default_factory=dict)


class PayloadPart(Part):
    """``files`` and ``bytes`` count regular files; ``entries`` counts everything but the root."""

    files: Count
    bytes: Count
    entries: Count
    fingerprint: FingerprintPart
    modes: ModesPart | None = None


class EnvironmentPart(Part):
    """Names, sorted, and the digest of NAME=VALUE pairs. Values are never stored."""

    names: Annotated[Array[VariableName], Field(max_length=1024)]
    sha256: Digest

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if list(self.names) != sorted(set(self.names)):
            raise ValueError("names are not sorted, or one is there twice")
        if not self.names and self.sha256 != environment_sha256(()):
            raise ValueError("the digest is not that of an empty environment, yet no name is given")
        return self


class ImagePart(Part):
    """The image that was used. ``id`` is its config digest, ``manifest`` its manifest digest if known.

    ``tools`` are versions found in the image. Name and tools are for people.
    """

    name: Short
    id: ImageId
    manifest: ImageId | None = None
    platform: Short
    tools: Annotated[dict[Word, Short], Field(max_length=64)] = Field(default_factory=dict)


class PolicyPart(Part):
    """The effective policy of the recording."""

    name: Word
    sha256: Digest


class LimitsPart(Part):
    """What the report asks for. Can only lower the policy's limits."""

    memory: Positive | None = None
    pids: Positive | None = None
    cpus: Annotated[float, Field(gt=0, le=4096)] | None = None
    tmp: Positive | None = None
    work: Positive | None = None


class ExecutionPart(Part):
    """Where and how the failure was recorded."""

    backend: Literal["docker", "host"]
    image: ImagePart | None = None
    network: Literal["none", "bridge", "host"]
    policy: PolicyPart
    timeout_seconds: Annotated[float, Field(gt=0, le=_WEEK)]
    limits: LimitsPart = LimitsPart()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.backend == "docker") != (self.image is not None):
            raise ValueError("an image goes with the docker backend, and with no other")
        return self


class BaselinePart(Part):
    """The runs that the contract was learned from."""

    runs: Positive
    matched: Count
    exit_code: Annotated[int, Field(ge=-MAX_COUNT, le=MAX_COUNT)] | None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.matched > self.runs:
            raise ValueError("more runs matched than there were")
        return self
