"""A report's claims for a person: one row a claim, in text or Markdown, or all of it as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.errors import printable
from runner.reports.claims.content import SCHEMA, Claims
from runner.reports.claims.session_show import (
    Row,
    api_fault_rows,
    application_rows,
    failure_rows,
    missing_rows,
    race_rows,
    session_rows,
    state_fault_rows,
    trace_rows,
)
from runner.reports.markup import item
from runner.reports.scalars import display
from runner.sandbox.sizes import format_size

_NOTE = "claims only: nothing was run, and whoever made the report could write anything"
_SIZES = frozenset({"memory", "tmp", "work"})


def show_json(claims: Claims) -> str:
    """One line, sorted keys, ASCII."""
    return json.dumps({"schema": SCHEMA, **claims}, sort_keys=True)


def show_text(claims: Claims) -> str:
    """Label and value a line, safe on a terminal."""
    return "\n".join(f"{label:<12} {printable(value)}" for label, value in (*rows(claims), ("note", _NOTE)))


def show_markdown(claims: Claims) -> str:
    """A list, since values may hold anything."""
    return "\n".join(["# What the report claims", "", f"These are {_NOTE}.", "",
                      *(item(label, value) for label, value in rows(claims))])


def rows(claims: Claims) -> Iterator[Row]:
    """Every claim that the report makes, the command first. Values are raw."""
    for group, show in _SHOWN.items():
        fields = claims.get(group)
        if fields is not None:
            yield from show(fields)


def _command(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "command", said["text"]
    yield "run by", "/bin/sh -c" if said["shell"] else "its words as they are, without a shell"
    if said["cwd"] != ".":
        yield "directory", said["cwd"]
    for glob in said["artifacts"]:
        yield "keeps", glob


def _expects(said: Mapping[str, Any]) -> Iterator[Row]:
    if said["mode"] == "legacy":
        yield "expects", "nothing: a replay needs --exit-code"
    elif said["exit_code"] is not None:
        yield "expects", f"exit code {display(said['exit_code'])}"
    elif said["mode"] == "process_failure":
        yield "expects", "the ending that the signature names"
    else:
        yield "expects", "any exit code but 0"
    if said["match"]:
        yield "match", said["match"]
    signature = said["signature"]
    if signature is not None and signature["kind"] == "process":
        yield "signature", f"process: {signature['process_kind']} {display(signature['code'])}"
    elif signature is not None:
        yield "signature", f"{signature['kind']}: {signature['class']}: {signature['message']}"
        yield from (("frame", frame) for frame in signature["frames"])


def _environment(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "environment", ", ".join(said["names"]) or "no variables"


def _payload(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "payload", f"{display(said['files'])} files, {display(said['bytes'])} bytes"
    for which in ("exact", "content"):
        if said[which] is not None:
            yield which, f"{said[which]} ({said['scheme']})"
    if said["exact"] is None and said["content"] is None:
        yield "exact", "no digest: only counts tell whether a payload is the one"


def _execution(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "backend", said["backend"]
    if said["network"] is not None:
        yield "network", said["network"]
    if said["policy"] is not None:
        yield "policy", f"{said['policy']} {said['policy_sha256']}"
    if said["timeout_seconds"] is not None:
        yield "timeout", f"{said['timeout_seconds']:g} s"


def _image(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "image", f"{said['id'] or 'no ID'} ({said['name'] or 'unnamed'})"
    if said.get("platform"):
        yield "platform", said["platform"]
    yield from (("tool", f"{name} {version}") for name, version in sorted((said.get("tools") or {}).items()))


def _limits(said: Mapping[str, Any]) -> Iterator[Row]:
    asked = [f"{name} {_limit(name, value)}" for name, value in said.items() if value is not None]
    yield "limits", ", ".join(asked) or "asks for none of its own"


def _limit(name: str, value: float) -> str:
    if name in _SIZES:
        return format_size(int(value)) if value < 1 << 62 else display(value)
    return display(value) if isinstance(value, int) else f"{value:g}"


def _baseline(said: Mapping[str, Any]) -> Iterator[Row]:
    code = f"exit code {display(said['exit_code'])}"
    yield "baseline", code if said["runs"] is None else f"{said['matched']} of {said['runs']} runs matched, {code}"


def _holdout(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "holdout", (f"{said['status']}: {display(said['passes'])} of {display(said['completed_runs'])} runs passed, "
                      f"{display(said['planned_runs'])} planned")


def _reduction(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "reduced from", f"{display(said['source_files'])} files, {display(said['source_bytes'])} bytes"
    yield "attempts", f"{display(said['attempts'])}, {display(said['accepted_mutations'])} accepted"


def _report(said: Mapping[str, Any]) -> Iterator[Row]:
    yield "format", said["format"]
    yield "written by", f"{said['tool'] or 'not said'}" + (f", {said['created']}" if said["created"] else "")
    yield "report", f"{said['path']} (sha256 {said['sha256']})"


_SHOWN: dict[str, Callable[[Mapping[str, Any]], Iterator[Row]]] = {
    "session": session_rows, "application": application_rows, "failures": failure_rows, "trace": trace_rows,
    "api_faults": api_fault_rows, "state_faults": state_fault_rows, "race": race_rows, "missing": missing_rows,
    "command": _command, "expects": _expects, "environment": _environment, "payload": _payload,
    "execution": _execution, "image": _image, "limits": _limits, "baseline": _baseline, "holdout": _holdout,
    "reduction": _reduction, "report": _report}
