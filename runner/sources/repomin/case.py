"""The case of a ReproMin report: its contract as ReproMin's replay builds it, and what it asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from runner.case import Case, RecordedEnvironment, RecordedExecution, RecordedPayload, RequestedLimits
from runner.errors import ReportError, UsageError
from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature
from runner.sandbox.image import ImagePin, is_image_id
from runner.sources.repomin.model import Execution, RepominReport
from runner.sources.wording import describe, is_plain_text, wrong
from runner.workloads.command import CommandWorkload

FIXED_ENV: Final = (("REPOMIN", "1"),)
MAX_COMMAND_BYTES = 131_000
"""Linux starts no program with a longer argument (128 KiB, with room for what is put before the text)."""

_LARGEST = 2**63 - 1
_MAX_SEGMENT_BYTES = 255
_MAX_NAME_CHARS = 512


def to_case(report: RepominReport, *, path: str, sha256: str, exit_code: int | None = None) -> Case:
    """The case of a checked report. ``exit_code`` is the user's ``--exit-code``, for legacy reports only.

    Raises UsageError when it does not apply, ReportError when the contract is ambiguous or the command
    cannot be started.
    """
    _check_texts(report)
    _check_command(report.command)
    contract = _as_its_client_saw(_contract(report, exit_code), report.execution)
    _check_ranges(report, contract)
    execution = report.execution
    problem = _basename_problem(execution)
    basename = execution.raw.get("working_directory_basename")
    return Case(
        source="repomin", path=path, sha256=sha256, schema_version="1",
        workload=CommandWorkload(shell=report.command),
        contract=contract,
        contract_source="legacy_inferred" if report.failure_spec is None else "recorded",
        payload=recorded_payload(report),
        environment=RecordedEnvironment(tuple(sorted(execution.environment_names)),
                                        execution.environment_sha256),
        execution=_execution(execution),
        working_copy=basename if isinstance(basename, str) and not problem else None,
        working_copy_problem=problem,
        holdout_status=report.holdout.status,
        fixed_env=FIXED_ENV)


def recorded_payload(report: RepominReport) -> RecordedPayload:
    """What a checked report says of its payload."""
    output = report.output
    return RecordedPayload(output.counts.files, output.counts.bytes, "tree-sha256",
                           output.tree_sha256 or report.holdout.artifact_fingerprint, output.tree_content_sha256)


def _as_its_client_saw(contract: Contract, execution: Execution) -> Contract:
    """A docker client reports the death by signal N as exit code 128+N, so that is what was recorded there."""
    signature = contract.signature
    if execution.backend == "docker" and isinstance(signature, ProcessSignature) \
            and signature.process_kind == "exit_code":
        return replace(contract, signature=replace(signature, signal_as_exit=True))
    return contract


def _check_texts(report: RepominReport) -> None:
    """The validator allows lone surrogates, but no program can be given one and no output holds one."""
    texts = {"command": report.command, "failure_match": report.failure_match or ""}
    match report.signature:
        case ProcessSignature(name=name):
            texts["process_failure_signature"] = name or ""
        case JavaSignature() | PythonSignature() as signature:
            texts[f"{signature.kind}_exception_signature"] = "".join(
                (signature.class_name, signature.message, *signature.frames))
    for field, text in texts.items():
        if not is_plain_text(text):
            raise ReportError(f"{field}: has a lone surrogate, expected text that can be encoded")


def _check_ranges(report: RepominReport, contract: Contract) -> None:
    """The validator allows integers of any length; no file, size or exit code of this world is that large."""
    counts = report.output.counts
    for field, value in (("output.files", counts.files), ("output.bytes", counts.bytes),
                         ("the exit code", contract.exit_code or 0)):
        if abs(value) > _LARGEST:
            raise wrong(field, value, "a number that a 64-bit integer can hold")


def _capped(limits: RequestedLimits) -> RequestedLimits:
    """A limit beyond 64 bits asks for nothing less."""

    def least(value: int | None) -> int | None:
        return None if value is None else min(value, _LARGEST)

    return replace(limits, memory=least(limits.memory), pids=least(limits.pids), tmp=least(limits.tmp),
                   work=least(limits.work))


def _check_command(command: str) -> None:
    if len(command.encode()) > MAX_COMMAND_BYTES:
        raise ReportError(f"command: is longer than {MAX_COMMAND_BYTES} bytes, which cannot be started")


def _contract(report: RepominReport, exit_code: int | None) -> Contract:
    spec = report.failure_spec
    if spec is not None:
        if exit_code is not None:
            raise UsageError("--exit-code: the report records its own contract (failure_spec)",
                             hint="leave --exit-code out")
        return Contract(spec.exit_code, spec.match, report.signature)
    if exit_code is not None and report.signature is not None and report.signature.kind == "process":
        raise UsageError("--exit-code: the report records how the process ended (process_failure_signature)",
                         hint="leave --exit-code out")
    if not report.failure_match and report.signature is None and exit_code is None:
        raise ReportError("failure_match: is not set and there is no signature, so any failure would count",
                          hint="say what is expected with --exit-code N")
    return Contract(exit_code, report.failure_match, report.signature)


def _execution(execution: Execution) -> RecordedExecution:
    network = execution.raw.get("network")
    problem = _image_problem(execution)
    name = execution.raw.get("image")
    usable = isinstance(name, str) and len(name) <= _MAX_NAME_CHARS and is_plain_text(name)
    pin = None if problem else ImagePin(str(execution.raw["image_id"]), str(name) if usable else "")
    return RecordedExecution(
        backend=execution.backend, image=pin, image_problem=problem,
        network=network if isinstance(network, str) and is_plain_text(network) else None,
        timeout_seconds=execution.timeout_seconds, limits=_capped(execution.limits))


def _image_problem(execution: Execution) -> str:
    """Why the report names no image to replay with; empty when it does."""
    if "image_id" not in execution.raw:
        return "execution.image_id: is missing, expected sha256: and 64 hex digits"
    image_id = execution.raw["image_id"]
    if not is_image_id(image_id):
        return f"execution.image_id: is {describe(image_id)}, expected sha256: and 64 hex digits"
    return ""


def _basename_problem(execution: Execution) -> str:
    """Why the recorded directory name cannot be used; empty when it can, or there is none."""
    key = "working_directory_basename"
    if key not in execution.raw or _is_segment(execution.raw[key]):
        return ""
    return f"execution.{key}: is {describe(execution.raw[key])}, expected one ordinary path segment"


def _is_segment(name: object) -> bool:
    return (isinstance(name, str) and name not in {"", ".", ".."} and is_plain_text(name)
            and not set(name) & {"/", "\0"} and len(name.encode()) <= _MAX_SEGMENT_BYTES)
