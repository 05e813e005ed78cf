"""``oracle``: the contract of a native report."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from runner.oracles.contract import Contract, JavaSignature, ProcessSignature, PythonSignature, Signature
from runner.sources.native.parts import MAX_COUNT, Array, Part, Short

_LONG = 64 * 1024
_CODES = {"posix_signal": (1, 255), "windows_status": (0x80000000, 0xFFFFFFFF), "exit_code": (1, 0x7FFFFFFF)}

Long = Annotated[str, StringConstraints(max_length=_LONG)]
LongName = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
Frames = Annotated[Array[LongName], Field(min_length=1, max_length=64)]


class JavaPart(Part):
    """A Java exception."""

    kind: Literal["java"]
    class_: LongName = Field(alias="class")
    message: Long
    frames: Frames


class PythonPart(Part):
    """A Python exception. ``rooted`` is ReproMin's frame rule ``execution-root-relative-v1``."""

    kind: Literal["python"]
    class_: LongName = Field(alias="class")
    message: Long
    frames: Frames
    rooted: bool


class ProcessPart(Part):
    """How the main process ended."""

    kind: Literal["process"]
    process_kind: Literal["posix_signal", "windows_status", "exit_code"]
    code: int
    name: Short | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        low, high = _CODES[self.process_kind]
        if not low <= self.code <= high:
            raise ValueError(f"the code of a {self.process_kind} is from {low} to {high}")
        return self


SignaturePart = Annotated[JavaPart | PythonPart | ProcessPart, Field(discriminator="kind")]


class OraclePart(Part):
    """All of: the exit code (null: any but 0), the pattern, the signature. At least one is set."""

    exit_code: Annotated[int, Field(ge=-MAX_COUNT, le=MAX_COUNT)] | None
    match: Long | None
    signature: SignaturePart | None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.exit_code is None and self.match is None and self.signature is None:
            raise ValueError("no exit code, no pattern and no signature, so any failure would count")
        if isinstance(self.signature, ProcessPart) and self.exit_code is not None:
            raise ValueError("an exit code does not go with a process signature")
        return self

    def contract(self) -> Contract:
        """As oracles take it."""
        return Contract(self.exit_code, self.match, _signature(self.signature))


def _signature(part: JavaPart | PythonPart | ProcessPart | None) -> Signature | None:
    match part:
        case None:
            return None
        case JavaPart():
            return JavaSignature(part.class_, part.message, part.frames)
        case PythonPart():
            return PythonSignature(part.class_, part.message, part.frames, part.rooted)
        case ProcessPart():
            return ProcessSignature(part.process_kind, part.code, part.name)


def oracle_document(contract: Contract) -> dict[str, object]:
    """The JSON object of a contract."""
    return {"exit_code": contract.exit_code, "match": contract.match,
            "signature": _signature_document(contract.signature)}


def _signature_document(signature: Signature | None) -> dict[str, object] | None:
    match signature:
        case None:
            return None
        case ProcessSignature():
            return {"kind": "process", "process_kind": signature.process_kind, "code": signature.code,
                    "name": signature.name}
        case JavaSignature():
            return {"kind": "java", "class": signature.class_name, "message": signature.message,
                    "frames": list(signature.frames)}
        case PythonSignature():
            return {"kind": "python", "class": signature.class_name, "message": signature.message,
                    "frames": list(signature.frames), "rooted": signature.rooted}
