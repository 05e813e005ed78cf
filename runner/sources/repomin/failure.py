"""``failure_spec`` and the three signature objects: what counts as the failure."""

from __future__ import annotations

from typing import Final, Literal, cast

from runner.errors import ReportError
from runner.oracles.contract import JavaSignature, ProcessSignature, PythonSignature, Signature
from runner.sources.repomin.fields import Fields
from runner.sources.repomin.model import FailureSpec

ROOTED_POLICY = "execution-root-relative-v1"
_SIGNATURE_KEYS: Final = ("java_exception_signature", "python_exception_signature",
                          "process_failure_signature")
_MODES: Final = {"java_exception": "java", "python_exception": "python", "process_failure": "process"}
_CODES: Final = {"posix_signal": (1, 255), "windows_status": (0x80000000, 0xFFFFFFFF),
                 "exit_code": (1, 0x7FFFFFFF)}

ProcessKind = Literal["posix_signal", "windows_status", "exit_code"]


def read_signature(top: Fields) -> Signature | None:
    """The one signature object of a report, if there is one."""
    present = [key for key in _SIGNATURE_KEYS if top.has(key)]
    if len(present) > 1:
        raise ReportError(f"{present[1]}: is there beside {present[0]}, expected at most one signature")
    if not present:
        return None
    fields = top.object(present[0])
    if present[0] == "process_failure_signature":
        return _process(fields)
    class_name, message = fields.text("class"), fields.text("message", empty=True)
    frames = fields.texts("frames")
    if present[0] == "java_exception_signature":
        return JavaSignature(class_name, message, frames)
    rooted = fields.has("normalization_policy")
    if rooted:
        fields.choice("normalization_policy", (ROOTED_POLICY,))
    return PythonSignature(class_name, message, frames, rooted=rooted)


def _process(fields: Fields) -> ProcessSignature:
    kind = cast("ProcessKind", fields.choice("kind", _CODES))
    code = fields.integer("code", *_CODES[kind])
    name = fields.text("name", empty=True) if fields.given("name") else None
    return ProcessSignature(kind, code, name)


def read_failure_spec(top: Fields, match: str | None, signature: Signature | None) -> FailureSpec | None:
    """The recorded contract, or ``None`` for a legacy report that has none."""
    if not top.has("failure_spec"):
        return None
    fields = top.object("failure_spec")
    fields.version_one("schema_version")
    for key in ("match", "exit_code"):
        if not fields.has(key):
            raise fields.bad(key, "the key, be it null")
    spec = FailureSpec(fields.text("match", empty=True) if fields.given("match") else None,
                       fields.integer("exit_code") if fields.given("exit_code") else None)
    if spec.match != match:
        raise fields.bad("match", "the same as failure_match")
    _check_mode(fields, spec, signature)
    return spec


def _check_mode(fields: Fields, spec: FailureSpec, signature: Signature | None) -> None:
    modes = [key for key in _MODES if fields.flag(key)]
    if len(modes) > 1:
        raise fields.bad(modes[1], f"false, because {modes[0]} is true")
    wanted = _MODES[modes[0]] if modes else None
    found = signature.kind if signature is not None else None
    if wanted != found:
        need = f"the {wanted} signature object" if wanted else "no signature object, because no mode is true"
        raise ReportError(f"{fields.path}: does not go with the signature: expected {need},"
                          f" found {'a ' + found if found else 'no'} signature")
    if wanted == "process":
        if spec.exit_code is not None:
            raise fields.bad("exit_code", "null, because process_failure is true")
    elif spec.match is None and spec.exit_code is None:
        raise fields.bad("match", "a pattern, because exit_code is null and process_failure is false")
