"""A case: what a report claims, whatever format it came in. Frozen; sources make it, the controller reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from runner.oracles.contract import Contract
from runner.sandbox.image import ImagePin
from runner.workloads.command import CommandWorkload

BackendName = Literal["host", "docker"]


@dataclass(frozen=True, slots=True)
class RecordedModes:
    """Permission bits (``mode & 0o7777``): what most files and most directories have, and the exceptions.

    ``others`` holds (percent-escaped path, mode), sorted by path; symbolic links have no mode of their own.
    """

    file: int
    directory: int
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedPayload:
    """What the report says of its payload.

    ``exact`` and ``content`` are digests under ``scheme``: ``manifest-sha256-v1`` (native) or ``tree-sha256``
    (ReproMin's pair, tree-sha256-v2 and tree-content-sha256-v1). Either may be missing, and so may ``modes``.
    """

    files: int
    bytes: int
    scheme: Literal["manifest-sha256-v1", "tree-sha256"]
    exact: str | None = None
    content: str | None = None
    modes: RecordedModes | None = None


@dataclass(frozen=True, slots=True)
class RecordedEnvironment:
    """Names, sorted, and the digest of NAME=VALUE pairs; values are never stored."""

    names: tuple[str, ...] = ()
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class RequestedLimits:
    """What a report asks for. It can only ever lower the policy's limit. Bytes, counts, cores."""

    memory: int | None = None
    pids: int | None = None
    cpus: float | None = None
    tmp: int | None = None
    work: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedExecution:
    """Where and how the report says it was made. Compared with what is used; differences are drift.

    ``image_problem`` says why there is no ``image`` to replay with, for whoever needs one; a person may
    still name an image.
    """

    backend: BackendName
    image: ImagePin | None = None
    network: str | None = None
    timeout_seconds: float | None = None
    policy_name: str | None = None
    policy_sha256: str | None = None
    limits: RequestedLimits = field(default_factory=RequestedLimits)
    image_problem: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One untrusted report, parsed and consistent with itself.

    ``contract_source`` is ``recorded`` or ``legacy_inferred``. ``working_copy`` is the directory name that a
    host replay uses (ReproMin's rule); ``None`` means the payload's own name, unless ``working_copy_problem``
    says why the recorded name cannot be used: then a host replay is refused. ``fixed_env`` is what the format
    promises every run (ReproMin sets ``REPOMIN=1``). ``sha256`` is the digest of the report file's bytes.
    """

    source: Literal["native", "repomin"]
    path: str
    sha256: str
    schema_version: str
    workload: CommandWorkload
    contract: Contract
    contract_source: Literal["recorded", "legacy_inferred"]
    payload: RecordedPayload
    environment: RecordedEnvironment
    execution: RecordedExecution
    working_copy: str | None = None
    working_copy_problem: str = ""
    holdout_status: str | None = None
    fixed_env: tuple[tuple[str, str], ...] = ()
