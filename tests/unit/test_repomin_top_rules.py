"""Sections 1.1 to 1.5 of ReproMin's schema: each rule broken once, and what must still be accepted."""

from __future__ import annotations

import math

import pytest
from repomin_reports import DROP, edited, sample

from runner.errors import ReportError
from runner.oracles.contract import JavaSignature, ProcessSignature, PythonSignature
from runner.sources.repomin import validate_repomin

HEX = "ab" * 32
JAVA = {"class": "a.B", "message": "", "frames": ["a.B.c"]}
PYTHON = {"class": "ValueError", "message": "m", "frames": ["f.py:f"]}
PROCESS = {"kind": "posix_signal", "code": 11, "name": "SIGSEGV"}
SPEC = {"schema_version": 1, "match": "CONFIG_MISSING", "exit_code": None, "java_exception": False,
        "python_exception": False, "process_failure": False}

NOT_A_COUNT = (-1, True, 1.0, "1", None)

BROKEN = [
    *(("c", "schema_version", {"schema_version": bad}) for bad in (DROP, 0, 2, True, 1.0, "1", None)),
    *(("a", "repomin_version", {"repomin_version": bad}) for bad in (None, "", 7)),
    *(("c", "command", {"command": bad}) for bad in (DROP, "", None, ["sh"], "a\0b")),
    *(("c", "failure_match", {"failure_match": bad}) for bad in (7, ["x"], False)),
    *(("c", key, {key: bad}) for key in ("baseline_exit_code", "final_exit_code")
      for bad in (DROP, None, True, 1.0, "1")),
    *(("c", key, {key: bad}) for key in ("attempts", "accepted_mutations", "cache_hits")
      for bad in (DROP, *NOT_A_COUNT)),
    *(("c", key, {key: bad}) for key in ("source", "output", "execution", "phase_statistics",
                                         "holdout_certification") for bad in (DROP, None, [], "x")),
    *(("c", "events", {"events": bad}) for bad in (DROP, None, {}, "x")),
    *(("c", f"{part}.{key}", {f"{part}__{key}": bad}) for part in ("source", "output")
      for key in ("files", "bytes") for bad in (DROP, *NOT_A_COUNT)),
    # 1.2 output
    *(("a", f"output.{key}", {f"output__{key}": bad}) for key in ("tree_sha256", "tree_content_sha256")
      for bad in ("", HEX.upper(), HEX[1:], HEX + "\n", 7)),
    *(("a", f"output.{key}", {f"output__{key}": bad})
      for key in ("tree_fingerprint_policy", "tree_content_fingerprint_policy")
      for bad in (DROP, None, "tree-sha256-v1", 2)),
    ("c", "output.tree_fingerprint_policy", {"output__tree_fingerprint_policy": "tree-sha256-v2"}),
    ("c", "output.tree_content_fingerprint_policy",
     {"output__tree_content_fingerprint_policy": "tree-content-sha256-v1"}),
    ("a", "output.tree_fingerprint_policy", {"output__tree_sha256": None}),
    # 1.3 execution
    *(("c", "execution.backend", {"execution__backend": bad}) for bad in (DROP, None, "vm", "Docker", ["host"])),
    *(("c", "execution.jobs", {"execution__jobs": bad}) for bad in (DROP, None, 0, True, 1.5)),
    *(("c", "execution.timeout_seconds", {"execution__timeout_seconds": bad})
      for bad in (None, 0, -1, True, "5", math.inf, math.nan, 10**400)),
    *(("c", "execution.budget_exhausted", {"execution__budget_exhausted": bad}) for bad in (None, 0, "false")),
    *(("c", "execution.semantic_reducer", {"execution__semantic_reducer": bad}) for bad in ("https", 1, False)),
    *(("c", "execution.semantic_timeout", {"execution__semantic_timeout": bad}) for bad in (None, 5)),
    *(("a", "execution.semantic_timeout",
       {"execution__semantic_reducer": reducer, "execution__semantic_timeout": bad})
      for reducer, bad in (("none", 5), (None, 5), ("http", 0), ("http", None), ("http", True))),
    *(("c", "execution.environment_names", {"execution__environment_names": bad}) for bad in (None, "A", {})),
    *(("c", "execution.environment_names[1]", {"execution__environment_names": ["A", bad]})
      for bad in ("A", "REPOMIN", "", "1A", "A-B", "A\n", "É", 7, None)),
    *(("c", "execution.environment_sha256", {"execution__environment_sha256": bad}) for bad in ("", HEX[1:], 7)),
    *(("c", "execution.limits", {"execution__limits": bad}) for bad in (None, [], 7)),
    *(("c", "execution.limits.cpus", {"execution__limits": {"cpus": bad}})
      for bad in (None, 0, -1, True, "1", math.inf, 10**400)),
    *(("c", "execution.limits.memory_bytes", {"execution__limits": {"memory_bytes": bad}})
      for bad in (None, 6 * 1024 * 1024 - 1, True, 1e9)),
    *(("c", f"execution.limits.{key}", {"execution__limits": {key: bad}})
      for key in ("pids", "tmpfs_bytes", "workspace_bytes") for bad in (None, 0, True, 1.0, "1")),
    # 1.4 failure_spec
    *(("a", "failure_spec", {"failure_spec": bad}) for bad in (None, [], "x")),
    *(("a", "failure_spec.schema_version", {"failure_spec__schema_version": bad}) for bad in (DROP, None, 2, True)),
    *(("a", "failure_spec.match", {"failure_spec__match": bad}) for bad in (DROP, 7, "other", None)),
    *(("a", "failure_spec.match", {"failure_match": bad}) for bad in (DROP, None, "other")),
    *(("a", "failure_spec.exit_code", {"failure_spec__exit_code": bad}) for bad in (DROP, True, 7.0, "7")),
    *(("a", f"failure_spec.{key}", {f"failure_spec__{key}": bad})
      for key in ("java_exception", "python_exception", "process_failure") for bad in (DROP, None, 0, "true")),
    ("b", "failure_spec.python_exception", {"failure_spec__java_exception": True}),
    ("a", "failure_spec", {"failure_spec__java_exception": True}),
    ("a", "failure_spec", {"python_exception_signature": PYTHON}),
    ("b", "failure_spec", {"failure_spec__python_exception": False}),
    ("b", "failure_spec", {"python_exception_signature": DROP, "java_exception_signature": JAVA}),
    ("a", "failure_spec.exit_code", {"failure_spec__process_failure": True, "process_failure_signature": PROCESS}),
    ("b", "failure_spec.match", {"failure_match": None, "failure_spec__match": None}),
    # 1.5 signatures
    ("c", "python_exception_signature", {"java_exception_signature": JAVA, "python_exception_signature": PYTHON}),
    ("c", "process_failure_signature", {"java_exception_signature": JAVA, "process_failure_signature": PROCESS}),
    *(("c", key, {key: bad}) for key in ("java_exception_signature", "python_exception_signature",
                                         "process_failure_signature") for bad in (None, [], "x")),
    *(("c", f"{key}.{field}", {key: JAVA | {field: bad}})
      for key in ("java_exception_signature", "python_exception_signature")
      for field, bad in (("class", ""), ("class", None), ("message", None), ("message", 7), ("frames", []),
                         ("frames", None), ("frames", "a"))),
    ("c", "java_exception_signature.frames[1]", {"java_exception_signature": JAVA | {"frames": ["a", ""]}}),
    ("c", "java_exception_signature.frames[0]", {"java_exception_signature": JAVA | {"frames": [7]}}),
    *(("b", "python_exception_signature.normalization_policy",
       {"python_exception_signature__normalization_policy": bad}) for bad in (None, "other", "", 1)),
    *(("c", f"process_failure_signature.{field}", {"process_failure_signature": PROCESS | {field: bad}})
      for field, bad in (("kind", "signal"), ("kind", None), ("code", 0), ("code", 256), ("code", True),
                         ("code", "11"), ("code", None), ("name", 7))),
    *(("c", "process_failure_signature.code", {"process_failure_signature": {"kind": kind, "code": bad}})
      for kind, bad in (("windows_status", 0x7FFFFFFF), ("windows_status", 1 << 32), ("exit_code", 0),
                        ("exit_code", 1 << 31))),
]


@pytest.mark.parametrize(("letter", "field", "changes"), BROKEN)
def test_a_broken_rule_is_refused_naming_the_field(letter: str, field: str, changes: dict[str, object]) -> None:
    with pytest.raises(ReportError) as caught:
        validate_repomin(edited(sample(letter), **changes))
    assert caught.value.message.startswith(f"{field}: ")
    assert caught.value.message.isprintable()
    assert "expected" in caught.value.message


ACCEPTED = [
    ("a", {}), ("b", {}), ("c", {}), ("d", {}),
    ("c", {"failure_match": None}), ("c", {"failure_match": ""}), ("c", {"failure_match": DROP}),
    ("c", {"baseline_exit_code": -11, "final_exit_code": 10**30}),
    ("c", {"unknown": {"deep": [None]}, "execution__cache_enabled": "anything", "output__x": 1}),
    ("a", {"output__tree_sha256": None, "output__tree_fingerprint_policy": None}),
    ("c", {"output__tree_fingerprint_policy": None}),
    ("c", {"execution__timeout_seconds": 1}), ("c", {"execution__timeout_seconds": 1e-300}),
    ("c", {"execution__semantic_reducer": None, "execution__semantic_timeout": None}),
    ("c", {"execution__semantic_reducer": "http", "execution__semantic_timeout": 2.5}),
    ("c", {"execution__semantic_reducer": "http"}),
    ("c", {"execution__environment_names": ["B", "A"], "execution__environment_sha256": None}),
    ("c", {"execution__limits": {}}),
    ("c", {"execution__limits": {"memory_bytes": 6 * 1024 * 1024, "pids": 1, "cpus": 1, "unknown": None}}),
    ("c", {"execution__image": 7, "execution__image_id": None, "execution__network": [],
           "execution__working_directory_basename": "../x", "execution__working_directory_policy": 1}),
    ("a", {"failure_spec__exit_code": 0}), ("a", {"failure_spec__exit_code": -6}),
    ("a", {"failure_match": "", "failure_spec__match": ""}),
    ("a", {"failure_match": "(", "failure_spec__match": "("}),
    ("a", {"failure_match": DROP, "failure_spec__match": None}),
    ("c", {"failure_match": DROP, "process_failure_signature": PROCESS,
           "failure_spec": SPEC | {"match": None, "process_failure": True}}),
    ("c", {"process_failure_signature": {"kind": "windows_status", "code": 0xFFFFFFFF}}),
    ("c", {"process_failure_signature": {"kind": "exit_code", "code": 0x7FFFFFFF, "name": None}}),
]


@pytest.mark.parametrize(("letter", "changes"), ACCEPTED)
def test_what_repomin_accepts_is_accepted(letter: str, changes: dict[str, object]) -> None:
    report = validate_repomin(edited(sample(letter), **changes))
    assert report.command.endswith((".sh", ".py"))


@pytest.mark.parametrize("data", [None, [], "x", 7, True, 1.5, b"x"])
def test_only_an_object_is_a_report(data: object) -> None:
    with pytest.raises(ReportError, match=r"^the report: is .*, expected an object$"):
        validate_repomin(data)


def test_hostile_text_in_a_message_is_escaped_and_cut() -> None:
    with pytest.raises(ReportError) as caught:
        validate_repomin(edited(sample("c"), execution__backend="\x1b[2J\n\u202e\ud800" + "x" * 10_000))
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 200


def test_a_huge_integer_in_a_message_is_only_measured() -> None:
    with pytest.raises(ReportError, match=r"schema_version: is an integer of \d+ bits, expected 1"):
        validate_repomin(edited(sample("c"), schema_version=10**10_000))


def test_signatures_become_values() -> None:
    legacy = {"python_exception_signature": PYTHON}
    assert validate_repomin(edited(sample("c"), **legacy)).signature == PythonSignature(
        "ValueError", "m", ("f.py:f",), rooted=False)
    assert validate_repomin(sample("b")).signature == PythonSignature(
        "ValueError", "discount out of range: 150",
        ("app/pricing.py:apply_discount", "reproduce.py:main", "reproduce.py:<module>"), rooted=True)
    assert validate_repomin(edited(sample("c"), java_exception_signature=JAVA)).signature == JavaSignature(
        "a.B", "", ("a.B.c",))
    assert validate_repomin(edited(sample("c"), process_failure_signature=PROCESS)).signature == ProcessSignature(
        "posix_signal", 11, "SIGSEGV")


def test_what_a_summary_needs_is_there() -> None:
    report = validate_repomin(sample("a"))
    assert (report.repomin_version, report.attempts, report.accepted_mutations) == ("0.1.0.dev7", 3, 1)
    assert (report.source.files, report.source.bytes, report.output.counts.files) == (5, 900, 2)
    assert (report.execution.backend, report.execution.jobs, report.holdout.status) == ("host", 1, "not_requested")
