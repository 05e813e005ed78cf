"""The native report's schema: each rule broken once, refused naming the field."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from repomin_reports import DROP, edited

from runner.errors import ReportError
from runner.sources.native import parse_native

NATIVE = Path(__file__).parents[1] / "data" / "native"
HEX = "ab" * 32
TOP = ("schema", "kind", "created", "tool", "payload", "workload", "oracle", "environment", "execution", "baseline")


def report(name: str = "docker-shell") -> dict[str, Any]:
    return json.loads((NATIVE / f"{name}.json").read_bytes())


BROKEN = [
    *((key, {key: DROP}) for key in TOP),
    *((key, {key: bad}) for key in TOP for bad in (None, 7, "x", [])),
    ("extra", {"extra": 1}), ("tool.extra", {"tool__extra": 1}), ("oracle.class_", {"oracle__class_": 1}),
    ("schema_", {"schema_": "runner.report/1"}),
    *(("schema", {"schema": bad}) for bad in ("runner.report/2", "runner.report/1\n", "")),
    *(("kind", {"kind": bad}) for bad in ("browser", "load", "Command")),
    *(("created", {"created": bad}) for bad in ("2026-11-30", "2026-11-30T12:00:00", "2026-11-30T12:00:00+01:00",
                                                "2026-02-30T12:00:00Z", "2026-11-30T12:00:00Z\n")),
    *((f"tool.{key}", {f"tool__{key}": bad}) for key in ("name", "version") for bad in ("", "x" * 129, "a\0", None)),
    *((f"payload.{key}", {f"payload__{key}": bad}) for key in ("files", "bytes", "entries")
      for bad in (DROP, None, -1, True, 1.0, "1", 1 << 63)),
    *((f"payload.fingerprint.{key}", {f"payload__fingerprint__{key}": bad}) for key in ("exact", "content")
      for bad in (DROP, None, HEX.upper(), HEX[1:], HEX + "\n")),
    ("payload.fingerprint.scheme", {"payload__fingerprint__scheme": "tree-sha256-v2"}),
    ("workload.kind", {"workload__kind": "browser"}),
    ("workload", {"workload__shell": None}), ("workload", {"workload__argv": ["x"]}),
    *(("workload.shell", {"workload__shell": bad}) for bad in ("", "a\0b", 7, "x" * 131_001, "é" * 70_000)),
    *(("workload.argv", {"workload__shell": None, "workload__argv": bad}) for bad in ([], "x", {}, ["x"] * 1025)),
    ("environment.names", {"environment__names": [0] * 1025}),
    *(("workload.argv[0]", {"workload__shell": None, "workload__argv": [bad]}) for bad in (7, None, "a\0b")),
    ("workload", {"workload__shell": None, "workload__argv": [""]}),
    ("workload", {"workload__shell": None, "workload__argv": ["x" * 120_000] * 9}),
    *(("workload.cwd", {"workload__cwd": bad}) for bad in ("", "/", "/etc", "..", "a/../b", "a\0", None, "x" * 4097)),
    *(("workload.artifacts[0]", {"workload__artifacts": [bad]}) for bad in ("", "/etc/passwd", "../x", 7)),
    ("workload.artifacts", {"workload__artifacts": ["x"] * 65}),
    *(("oracle.exit_code", {"oracle__exit_code": bad}) for bad in (DROP, True, 7.0, "7", 1 << 63)),
    *(("oracle.match", {"oracle__match": bad}) for bad in (DROP, 7, "x" * 65_537)),
    ("oracle", {"oracle__exit_code": None, "oracle__match": None}),
    *(("oracle.signature", {"oracle__signature": bad}) for bad in (DROP, [], 7)),
    *(("oracle.signature.kind", {"oracle__signature": bad})
      for bad in ({}, {"kind": "ruby"}, {"kind": None}, {"kind": {"a": ["x" * 5000] * 50}})),
    ("oracle", {"oracle__signature": {"kind": "process", "process_kind": "exit_code", "code": 1}}),
    *((f"oracle.signature.{key}", {"oracle__signature": {"kind": "java", "class": "A", "message": "", "frames": ["a"],
                                                         key: bad}})
      for key, bad in (("class", ""), ("class", None), ("message", None), ("frames", []), ("frames", ["x"] * 65),
                       ("class_", "A"))),
    ("oracle.signature.frames[0]",
     {"oracle__signature": {"kind": "java", "class": "A", "message": "", "frames": [""]}}),
    ("oracle.signature.rooted",
     {"oracle__signature": {"kind": "python", "class": "A", "message": "", "frames": ["a"]}}),
    *(("oracle.signature", {"oracle__exit_code": None,
                            "oracle__signature": {"kind": "process", "process_kind": kind, "code": code}})
      for kind, code in (("posix_signal", 0), ("posix_signal", 256), ("exit_code", 0), ("windows_status", 1))),
    ("environment", {"environment__names": ["B", "A"]}), ("environment", {"environment__names": ["A", "A"]}),
    ("environment", {"environment__names": []}),
    *(("environment.names[0]", {"environment__names": [bad]}) for bad in ("", "1", "A=B", "A\n", "é", 7)),
    *(("environment.sha256", {"environment__sha256": bad}) for bad in (DROP, None, "x")),
    *(("execution.backend", {"execution__backend": bad}) for bad in (DROP, None, "vm", "fake")),
    ("execution", {"execution__backend": "host"}), ("execution", {"execution__image": None}),
    *((f"execution.image.{key}", {f"execution__image__{key}": bad})
      for key, bad in (("id", DROP), ("id", HEX), ("id", "sha256:" + HEX.upper()), ("manifest", "x"), ("name", None),
                       ("platform", DROP), ("tools", []), ("tools", {str(n): "1" for n in range(65)}), ("pull", 1))),
    *(("execution.network", {"execution__network": bad}) for bad in (DROP, None, "container:x", "")),
    *((f"execution.policy.{key}", {f"execution__policy__{key}": bad})
      for key, bad in (("name", ""), ("name", DROP), ("sha256", "x"), ("network", "host"))),
    *(("execution.timeout_seconds", {"execution__timeout_seconds": bad})
      for bad in (DROP, None, 0, -1, True, "5", math.inf, math.nan, 10**400, 7 * 24 * 3600 + 1)),
    *((f"execution.limits.{key}", {f"execution__limits__{key}": bad})
      for key in ("memory", "pids", "tmp", "work") for bad in (0, True, 1.0, "1", 1 << 63)),
    *(("execution.limits.cpus", {"execution__limits__cpus": bad}) for bad in (0, math.inf, True, 4097)),
    ("execution.privileged", {"execution__privileged": True}),
    *((f"baseline.{key}", {f"baseline__{key}": bad})
      for key, bad in (("runs", 0), ("runs", DROP), ("matched", -1), ("exit_code", DROP), ("exit_code", True))),
    ("baseline", {"baseline__matched": 4}),
]


@pytest.mark.parametrize(("field", "changes"), BROKEN)
def test_a_broken_rule_is_refused_naming_the_field(field: str, changes: dict[str, object]) -> None:
    with pytest.raises(ReportError) as caught:
        parse_native(edited(report(), **changes))
    assert caught.value.message.startswith(f"{field}: "), caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("changes", [
    {"created": "2026-11-30T12:00:00.123456Z"},
    {"execution__limits": DROP}, {"execution__image__manifest": DROP}, {"execution__image__tools": {}},
    {"execution__timeout_seconds": 20}, {"oracle__exit_code": 0}, {"oracle__match": ""}, {"baseline__exit_code": None},
    {"workload__artifacts": DROP}, {"workload__cwd": DROP}, {"workload__argv": DROP},
    {"workload__cwd": "a/..b/c"},
])
def test_what_the_schema_allows_is_accepted(changes: dict[str, object]) -> None:
    assert parse_native(edited(report(), **changes)).kind == "command"


@pytest.mark.parametrize("data", [None, [], "x", 7])
def test_only_an_object_is_a_report(data: object) -> None:
    with pytest.raises(ReportError, match="expected an object"):
        parse_native(data)


@pytest.mark.parametrize("text", ["\ud800", "\udc80x", "\x1b[31m", "\u202e\n"])
def test_hostile_text_is_refused_or_escaped_everywhere(text: str) -> None:
    for changes in ({"workload__shell": text + "\0"}, {"kind": text}, {text: 1}, {f"oracle__{text}": 1},
                    {"tool__name": text + "\0"}, {"environment__names": [text]}):
        with pytest.raises(ReportError) as caught:
            parse_native(edited(report(), **changes))
        assert caught.value.message.isprintable()
        assert len(caught.value.message) < 300


def test_a_frozen_report_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parse_native(report()).kind = "other"  # type: ignore[assignment,misc]
