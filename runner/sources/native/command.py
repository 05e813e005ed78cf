"""Reports of kind ``command``: one command, and how it fails."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from runner.sources.native.oracle import OraclePart
from runner.sources.native.parts import (
    Array,
    BaselinePart,
    EnvironmentPart,
    ExecutionPart,
    Moment,
    Part,
    PayloadPart,
    RelativePath,
    ToolPart,
    no_nul,
)
from runner.workloads.command import CommandWorkload

_MAX_ARGUMENT = 131_000
_MAX_ARGV_BYTES = 1024 * 1024


def _startable(text: str) -> str:
    if len(text.encode()) > _MAX_ARGUMENT:
        raise ValueError(f"is longer than {_MAX_ARGUMENT} bytes, which cannot be started")
    return text


Argument = Annotated[str, StringConstraints(max_length=_MAX_ARGUMENT), AfterValidator(no_nul),
                     AfterValidator(_startable)]


class CommandPart(Part):
    """Exactly one of ``argv`` and ``shell``. Paths are relative to the payload's root."""

    kind: Literal["command"]
    argv: Annotated[Array[Argument], Field(min_length=1, max_length=1024)] | None = None
    shell: Annotated[Argument, Field(min_length=1)] | None = None
    cwd: RelativePath = "."
    artifacts: Annotated[Array[RelativePath], Field(max_length=64)] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.argv is None) == (self.shell is None):
            raise ValueError("exactly one of argv and shell is needed")
        if self.argv is not None and not self.argv[0]:
            raise ValueError("argv names no program")
        if sum(len(word.encode()) for word in self.argv or ()) > _MAX_ARGV_BYTES:
            raise ValueError(f"argv is longer than {_MAX_ARGV_BYTES} bytes in all")
        return self

    def workload(self) -> CommandWorkload:
        """As the controller takes it."""
        return CommandWorkload(argv=self.argv or (), shell=self.shell, cwd=self.cwd, artifacts=self.artifacts)


class CommandReport(Part):
    """The whole report."""

    schema_: Literal["runner.report/1"] = Field(alias="schema")
    kind: Literal["command"]
    created: Moment
    tool: ToolPart
    payload: PayloadPart
    workload: CommandPart
    oracle: OraclePart
    environment: EnvironmentPart
    execution: ExecutionPart
    baseline: BaselinePart
