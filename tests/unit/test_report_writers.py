"""What is written can be read: both formats, every kind of contract."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from drafts import DRAFTS, HOST, IMAGE, PAYLOAD, PYTHON, SEGV, draft

from runner.errors import ReportError, UsageError
from runner.oracles.contract import Contract, PythonSignature
from runner.sources.draft import ReportDraft
from runner.sources.jsontext import parse_json
from runner.sources.load import parse_case
from runner.sources.native import dump_native, parse_native, write_native
from runner.sources.repomin import validate_repomin, write_repomin
from runner.workloads.command import CommandWorkload

NATIVE = Path(__file__).parents[1] / "data" / "native"
ROOT_DRAFTS = [made for made in DRAFTS.values() if made.workload.cwd == "."]


@pytest.mark.parametrize("made", DRAFTS.values(), ids=DRAFTS)
def test_a_native_report_reads_back_as_what_was_drafted(made: ReportDraft) -> None:
    raw = write_native(made)
    case = parse_case(raw, path="bug.json")
    assert case.workload == made.workload
    assert case.contract == made.contract
    assert case.environment == made.environment
    assert replace(case.execution, image_problem="") == made.execution
    assert (case.payload.files, case.payload.bytes, case.payload.exact, case.payload.content) == (
        2, 256, PAYLOAD.exact, PAYLOAD.content)
    assert (case.source, case.schema_version, case.contract_source) == ("native", "runner.report/1", "recorded")
    assert (case.payload.scheme, case.fixed_env, case.working_copy) == ("manifest-sha256-v1", (), None)


@pytest.mark.parametrize("made", DRAFTS.values(), ids=DRAFTS)
def test_native_bytes_are_canonical_and_round_trip(made: ReportDraft) -> None:
    raw = write_native(made)
    report = parse_native(parse_json(raw).value)
    assert dump_native(report) == raw
    assert parse_native(parse_json(dump_native(report)).value) == report
    assert raw == (json.dumps(json.loads(raw), indent=2, sort_keys=True) + "\n").encode("ascii")


@pytest.mark.parametrize("name", DRAFTS)
def test_the_stored_native_samples_are_what_is_written_today(name: str) -> None:
    assert (NATIVE / f"{name}.json").read_bytes() == write_native(DRAFTS[name])


@pytest.mark.parametrize("made", ROOT_DRAFTS)
def test_a_repomin_report_keeps_the_validators_rules_and_replays(made: ReportDraft) -> None:
    raw = write_repomin(made)
    assert validate_repomin(json.loads(raw)).command == made.workload.display
    case = parse_case(raw, path="report.json")
    assert case.workload.shell == made.workload.display
    assert case.contract == made.contract
    assert case.environment == made.environment
    assert (case.payload.exact, case.payload.content) == (PAYLOAD.tree_exact, PAYLOAD.tree_content)
    assert (case.execution.backend, case.execution.timeout_seconds) == (made.execution.backend, 20.0)
    assert case.execution.limits == made.execution.limits
    assert case.working_copy == ("workspace" if made.execution.backend == "docker" else "ledger")
    assert raw == (json.dumps(json.loads(raw), indent=2, sort_keys=True) + "\n").encode("ascii")


def test_a_repomin_report_pins_the_image_and_never_a_network() -> None:
    execution = json.loads(write_repomin(draft()))["execution"]
    assert (execution["image"], execution["image_id"], execution["network"]) == (IMAGE.name, IMAGE.id, "none")
    assert "image_id" not in json.loads(write_repomin(draft(execution=HOST)))["execution"]


def test_the_legacy_frame_rule_is_kept_in_both_formats() -> None:
    legacy = PythonSignature(PYTHON.class_name, PYTHON.message, PYTHON.frames, rooted=False)
    made = draft(contract=Contract(1, None, legacy))
    assert parse_case(write_native(made), path="x").contract.signature == legacy
    assert parse_case(write_repomin(made), path="x").contract.signature == legacy


def test_a_process_signature_never_pins_an_exit_code_in_a_repomin_report() -> None:
    raw = write_repomin(draft(contract=Contract(139, None, SEGV), exit_code=139))
    assert json.loads(raw)["failure_spec"]["exit_code"] is None


@pytest.mark.parametrize(("made", "error"), [
    (draft(CommandWorkload(argv=("x",), cwd="sub")), UsageError),
    (draft(CommandWorkload(argv=("x",), artifacts=("a",))), UsageError),
    (draft(exit_code=None), UsageError),
    (draft(CommandWorkload(shell="a\0b")), ReportError),
    (draft(CommandWorkload(argv=("x", "\udc80"))), ReportError),
    (draft(contract=Contract(None, None, None)), ReportError),
    (replace(draft(), payload=replace(PAYLOAD, tree_exact=None)), ValueError),
])
def test_what_repomin_cannot_say_is_refused(made: ReportDraft, error: type[Exception]) -> None:
    with pytest.raises(error):
        write_repomin(made)


@pytest.mark.parametrize("made", [
    draft(CommandWorkload(shell="a\0b")), draft(CommandWorkload(argv=("x", "\udc80"))),
    draft(CommandWorkload(shell="x" * 131_001)), draft(contract=Contract(None, None, None)),
    draft(CommandWorkload(shell="x", cwd="../up")), replace(draft(), created="yesterday"),
])
def test_what_no_native_report_may_hold_is_refused(made: ReportDraft) -> None:
    with pytest.raises(ReportError):
        write_native(made)
