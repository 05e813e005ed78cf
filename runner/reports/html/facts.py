"""Names and values for the page: the claim, the payload, the image, the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from runner.evidence.result import Result
from runner.reports.html.words import count, size
from runner.sandbox.policy_model import size_fields

Form = Literal["text", "code", "list"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One name and its value; ``form`` says how it is set, ``note`` what it means."""

    name: str
    values: tuple[str, ...]
    form: Form = "text"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """One line of the policy. ``held`` says what the engine was seen to do about it."""

    name: str
    value: str
    held: str = ""


def _text(name: str, value: str, note: str = "") -> Fact:
    return Fact(name, (value,), note=note)


def _code(name: str, value: str, note: str = "") -> Fact:
    return Fact(name, (value,), "code", note)


def claim_of(result: Result) -> tuple[Fact, ...]:
    """The command, and what a run must show to match."""
    contract = result.contract
    facts = [_code("Command", result.command)]
    if contract.exit_code is not None:
        facts.append(_text("Exit code", str(contract.exit_code)))
    elif contract.signature is None or contract.signature.get("kind") != "process":
        facts.append(_text("Exit code", "any but 0"))
    if contract.match:
        facts.append(_code("Pattern", contract.match, "a Python regular expression, found in the output"))
    if contract.signature is not None:
        facts += _signature(contract.signature)
    source = "recorded" if result.oracle_source == "recorded" else "inferred from a legacy report"
    facts.append(_text("Contract", f"{result.oracle_mode}, {source}"))
    facts.append(_text("Time limit", f"{result.timeout_seconds:g} s a run", f"from the {result.timeout_source}"
                       if result.timeout_source != "override" else "chosen with --timeout"))
    names = result.environment_names
    facts.append(Fact("Environment", names or ("nothing of the caller's",), "list" if names else "text",
                      "names only: values are never stored" if names else ""))
    return tuple(facts)


def _signature(signature: dict[str, Any]) -> Iterator[Fact]:
    kind, frames = signature.get("kind"), signature.get("frames")
    head = signature.get("class")
    if head is not None:
        yield _code("Signature", f"{head}: {signature.get('message', '')}", f"{kind} exception")
    else:
        rest = {name: value for name, value in signature.items() if name not in ("kind", "frames")}
        yield _code("Signature", ", ".join(f"{name} {_plain(value)}" for name, value in rest.items()), f"{kind}")
    if isinstance(frames, list) and frames:
        yield Fact("Frames", tuple(_plain(frame) for frame in frames), "list", "innermost first")


def payload_of(result: Result) -> tuple[Fact, ...]:
    """Which tree it was, and how far it is proved to be the recorded one."""
    seen = result.payload_fingerprint
    proved = {"exact": "exact: contents, modes and times are those recorded",
              "content": "content: paths and contents are those recorded",
              "unavailable": "none: the report records no fingerprint",
              "changed": "none: this is another payload than the recorded one"}[result.fingerprint_mode]
    if result.load is not None:
        proved = "exact: sealed before the run, which has no recording to be compared with"
    facts = [_code("Directory", result.payload) if result.payload else
             _text("Directory", "none: the application ran elsewhere. What follows is of the scenario and its job"),
             _text("Size", f"{count(seen.files, 'file')}, {size(seen.bytes)}, {count(seen.entries, 'entry')}"
                   .replace("entrys", "entries")),
             _text("Proved", proved),
             _code("Fingerprint", seen.exact, "exact, manifest-sha256-v1"),
             _code("Content fingerprint", seen.content, "content, manifest-sha256-v1")]
    for name, value in (("Recorded", result.expected_fingerprint),
                        ("Recorded content", result.expected_content_fingerprint)):
        if value is not None and result.load is None:
            same = value in (seen.exact, seen.content, result.actual_fingerprint, result.actual_content_fingerprint)
            facts.append(_code(name, value, "the same" if same else "differs"))
    facts.append(_text("Afterwards", "the directory is as it was" if result.payload_unchanged else
                       "THE DIRECTORY CHANGED while it was used"))
    return tuple(facts)


def image_of(result: Result) -> tuple[Fact, ...]:
    """What it ran in."""
    image = result.image
    if image is None:
        elsewhere = "the application ran elsewhere" if result.load is not None else "it ran on the host itself"
        return (_text("Image", f"none: {elsewhere}"),)
    matched = {"id": "the recorded one, by ID", "manifest": "the recorded one, by its manifest",
               "name": "a person's choice"}.get(image.matched, image.matched)
    facts = [_code("Image", image.used_id, matched), _code("Name", image.name or "unnamed"),
             _text("Platform", image.platform)]
    if image.recorded_id is not None and image.recorded_id != image.used_id:
        facts.insert(1, _code("Recorded", image.recorded_id))
    facts.append(Fact("Its environment", image.environment or ("none",), "list"))
    return tuple(facts)


def sandbox_of(result: Result) -> tuple[Fact, ...]:
    """The boundary that was in force."""
    engine = result.engine
    facts = [_text("Boundary", _plain(engine.get("boundary", "not known"))),
             _text("Backend", result.backend + ("" if result.backend == result.recorded_backend else
                                               f" (recorded: {result.recorded_backend})")),
             _text("Network", result.docker_network or ("the host's" if result.backend == "host" else "none"))]
    facts += [_text(label, _plain(engine[key])) for key, label in
              (("product", "Product"), ("version", "Engine"), ("platform", "Platform"), ("store", "Image store"),
               ("cgroup", "Control groups"), ("rootless", "Rootless"), ("userns_remap", "User namespaces"))
             if engine.get(key) is not None]
    differences = tuple(map(_plain, _listed(engine.get("differences"))))
    facts += [Fact("Unlike Docker, it", differences, "list")] if differences else []
    facts += [_code("Policy", result.policy.sha256, result.policy.name),
              _code("seccomp profile", result.policy.seccomp_sha256),
              _text("Clean-up", result.cleanup)]
    return tuple(facts)


def limits_of(result: Result) -> tuple[Limit, ...]:
    """The policy in force, one line a value."""
    held = {_plain(name): "enforced, proved" for name in _listed(result.engine.get("enforced"))}
    held |= {_plain(name): "NOT ENFORCED" for name in _listed(result.engine.get("not_enforced"))}
    lines, sizes = list(_flat(result.policy.effective)), size_fields()
    named = {name for name, _ in lines} | {name.split(".")[0] for name, _ in lines}
    limits = [Limit(name, size(value) if name in sizes and type(value) is int else _plain(value),
                    held.get(name, held.get(name.split(".")[0], ""))) for name, value in lines]
    return (*limits, *(Limit(name, "", said) for name, said in held.items() if name not in named))


def _flat(part: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in part.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif value is not None and value not in ([], ()):
            yield prefix + name, value


def _listed(value: object) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_plain(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
